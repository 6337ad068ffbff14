/**
 * The process that reads mail, or checks senders. `ParserProcess` starts it; it may be killed at any moment. It ends when
 * the process that started it is gone.
 */
import { authenticateSender } from "./AuthenticateSender.ts"
import type { ParserAnswer, ParserReply, ParserRequest } from "./ParserMessage.ts"
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
  request: Extract<ParserRequest, { readonly _tag: "Read" | "CheckSender" }>,
  raw: Uint8Array
): Promise<ParserAnswer> => {
  if (request._tag === "Read") return read(raw)
  const { envelope, settings } = request.job
  return { _tag: "Authentication", authentication: await authenticateSender(raw, envelope, settings) }
}

/** The pieces of the mails that have not arrived completely. */
const arriving = new Map<number, Array<Uint8Array>>()

const receive = async (request: ParserRequest): Promise<void> => {
  const { id } = request
  const pieces = arriving.get(id) ?? []
  arriving.delete(id)
  if (request._tag === "Cancel") return
  pieces.push(request.bytes)
  if (request._tag === "Piece") return void arriving.set(id, pieces)
  const raw = pieces.length === 1 ? request.bytes : Buffer.concat(pieces)
  reply({ _tag: "Answer", id, answer: await answerTo(request, raw) })
}

// Libraries report by errors what DNS does not have. Nobody reads their stacks.
Error.stackTraceLimit = 0
// `process.exit` may wait for V8's compilers for ever, and no parent is left to end this process.
process.once("disconnect", () => process.kill(process.pid, "SIGKILL"))
process.on("message", (request: ParserRequest) => void receive(request))
reply({ _tag: "Ready" })
