/**
 * The process that reads mail, or checks senders. `ParserProcess` starts it; it may be killed at any moment. It ends when
 * the process that started it is gone.
 */
import { authenticateSender } from "./AuthenticateSender.ts"
import { receiveMails } from "./MailPipe.ts"
import type { MailAnswer, MailRequest, ParserAnswer, ParserReply, SharedMail, SharedMails } from "./ParserMessage.ts"
import { readMail } from "./ReadMail.ts"

const REASON_LIMIT = 200

const reply = (message: ParserReply): void => {
  process.send?.(message)
}

const read = async (raw: Uint8Array): Promise<ParserAnswer> => {
  try {
    return { _tag: "Content", content: await readMail(raw) }
  } catch (error) {
    return { _tag: "Unreadable", message: String(error).slice(0, REASON_LIMIT) }
  }
}

const answerTo = async (
  request: Exclude<MailRequest, { readonly _tag: "Cancel" }>,
  raw: Uint8Array
): Promise<ParserAnswer> => {
  if (request._tag === "Read") return read(raw)
  const { envelope, settings } = request.job
  return { _tag: "Authentication", authentication: await authenticateSender(raw, envelope, settings) }
}

/** Time in milliseconds in which answers to several mails are collected into one message. */
const COLLECTING_MILLIS = 2

let collected: Array<MailAnswer> = []

const collect = (answer: MailAnswer): void => {
  collected.push(answer)
  if (collected.length > 1) return
  setTimeout(() => {
    reply({ _tag: "Answers", answers: collected })
    collected = []
  }, COLLECTING_MILLIS)
}

const waiting: Array<SharedMail & Pick<SharedMails, "settings">> = []
let isReading = false

/** Reads mails one after the other. The event loop turns in between, so that checks of senders go on. */
const readWaiting = async (): Promise<void> => {
  isReading = true
  for (let mail = waiting.shift(); mail !== undefined; mail = waiting.shift()) {
    const { bytes, envelope, id, settings } = mail
    const answer = await read(bytes)
    collect({ id, answer })
    if (envelope !== undefined && answer._tag === "Content")
      void authenticateSender(bytes, envelope, settings).then((authentication) =>
        collect({ id, answer: { _tag: "Authentication", authentication } })
      )
    await new Promise((resolve) => setImmediate(resolve))
  }
  isReading = false
}

const receiveAll = ({ mails, settings }: SharedMails): void => {
  for (const mail of mails) waiting.push({ ...mail, settings })
  if (!isReading) void readWaiting()
}

const receive = async (id: number, request: MailRequest, raw: Uint8Array): Promise<void> => {
  if (request._tag !== "Cancel") reply({ _tag: "Answer", id, answer: await answerTo(request, raw) })
}

// Libraries report by errors what DNS does not have. Nobody reads their stacks.
Error.stackTraceLimit = 0
// `process.exit` may wait for V8's compilers for ever, and no parent is left to end this process.
process.once("disconnect", () => process.kill(process.pid, "SIGKILL"))
process.on("message", receiveAll)
receiveMails((id, request, raw) => void receive(id, request, raw))
reply({ _tag: "Ready" })
