/**
 * The process that reads mail. `ParserProcess` starts it; it reads one mail at a time, and may be killed at any
 * moment. It ends when the process that started it is gone.
 */
import type { SenderAuthentication } from "@agentos/core"
import { authenticateSender } from "./AuthenticateSender.ts"
import { extractReply } from "./ExtractReply.ts"
import type { ParserJob, ParserReply, ParserRequest } from "./ParserMessage.ts"
import { type MailContent, readMail } from "./ReadMail.ts"

const REASON_LIMIT = 200

const reply = (message: ParserReply): void => {
  process.send?.(message)
}

/** The checks of a mail of this size take few milliseconds of processor time, whatever is in it. */
const SMALL_MAIL_BYTES = 16 * 1024
/** Time for which the content of a small mail waits for the checks of its sender, to be sent with them. */
const TOGETHER_MILLIS = 20

const checkSender = async (raw: Uint8Array, { envelope, settings }: ParserJob): Promise<SenderAuthentication> =>
  envelope.authentication ?? authenticateSender(raw, envelope, settings)

/** Resolves to undefined if the promise takes longer. */
const within = async <A>(millis: number, promise: Promise<A>): Promise<A | undefined> => {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<undefined>((resolve) => (timer = setTimeout(resolve, millis, undefined)))
  try {
    return await Promise.race([promise, late])
  } finally {
    clearTimeout(timer)
  }
}

/** Sends the content and the checks of the sender. The checks of a large mail begin after its content was sent. */
const replyWith = async (content: MailContent, raw: Uint8Array, job: ParserJob): Promise<void> => {
  const isSmall = raw.length <= SMALL_MAIL_BYTES
  if (!isSmall) reply({ _tag: "Content", content })
  const checking = checkSender(raw, job)
  const checked = isSmall ? await within(TOGETHER_MILLIS, checking) : undefined
  if (isSmall) reply({ _tag: "Content", content, authentication: checked })
  if (checked === undefined) reply({ _tag: "Authentication", authentication: await checking })
}

const work = async (raw: Uint8Array, job: ParserJob): Promise<void> => {
  let content: MailContent
  try {
    content = await readMail(raw)
  } catch (error) {
    reply({ _tag: "Unreadable", message: String(error).slice(0, REASON_LIMIT) })
    return
  }
  await replyWith(content, raw, job)
  // Last, because a text on which it takes too long costs nothing else.
  reply({ _tag: "Reply", extractedText: extractReply(content.text) })
}

const workAlone = async (raw: Uint8Array, job: ParserJob): Promise<void> =>
  reply({ _tag: "Authentication", authentication: await checkSender(raw, job) })

// Libraries report by errors what DNS does not have. Nobody reads their stacks.
Error.stackTraceLimit = 0
process.once("disconnect", () => process.exit())
let pieces: Array<Uint8Array> = []
process.on("message", (request: ParserRequest) => {
  pieces.push(request.bytes)
  if (request._tag === "Piece") return
  const raw = pieces.length === 1 ? request.bytes : Buffer.concat(pieces)
  pieces = []
  void (request._tag === "Job" ? work : workAlone)(raw, request.job)
})
reply({ _tag: "Ready" })
