/**
 * The process that reads mail. `ParserProcess` starts it; it reads one mail at a time, and may be killed at any
 * moment. It ends when the process that started it is gone.
 */
import { authenticateSender } from "./AuthenticateSender.ts"
import { extractReply } from "./ExtractReply.ts"
import type { ParserJob, ParserReply, ParserRequest } from "./ParserMessage.ts"
import { readMail } from "./ReadMail.ts"

const REASON_LIMIT = 200

const reply = (message: ParserReply): void => {
  process.send?.(message)
}

const checkSender = async (raw: Uint8Array, { envelope, settings }: ParserJob): Promise<void> =>
  reply({
    _tag: "Authentication",
    authentication: envelope.authentication ?? (await authenticateSender(raw, envelope, settings))
  })

const work = async (raw: Uint8Array, job: ParserJob): Promise<void> => {
  let text: string | null
  try {
    const content = await readMail(raw)
    text = content.text
    reply({ _tag: "Content", content })
  } catch (error) {
    reply({ _tag: "Unreadable", message: String(error).slice(0, REASON_LIMIT) })
    return
  }
  await checkSender(raw, job)
  // Last, because a text on which it takes too long costs nothing else.
  reply({ _tag: "Reply", extractedText: extractReply(text) })
}

process.once("disconnect", () => process.exit())
let pieces: Array<Uint8Array> = []
process.on("message", (request: ParserRequest) => {
  if (request._tag === "Piece") return void pieces.push(request.bytes)
  const raw = Buffer.concat(pieces)
  pieces = []
  void (request._tag === "Job" ? work : checkSender)(raw, request.job)
})
reply({ _tag: "Ready" })
