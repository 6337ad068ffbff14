/**
 * The process that reads mail. It is started by `ParserProcess`, reads one mail at a time, and may be killed at
 * any moment. It ends when whoever started it is gone.
 */
import { authenticateSender } from "./AuthenticateSender.ts"
import type { ParserJob, ParserReply } from "./ParserMessage.ts"
import { readMail } from "./ReadMail.ts"

const REASON_LIMIT = 200

const reply = (message: ParserReply): void => {
  process.send?.(message)
}

const work = async ({ raw, envelope, settings }: ParserJob): Promise<void> => {
  try {
    reply({ _tag: "Content", content: await readMail(raw, envelope) })
  } catch (error) {
    reply({ _tag: "Unreadable", message: String(error).slice(0, REASON_LIMIT) })
    return
  }
  reply({ _tag: "Authentication", authentication: await authenticateSender(raw, envelope, settings) })
}

process.once("disconnect", () => process.exit())
process.on("message", (job: ParserJob) => void work(job))
reply({ _tag: "Ready" })
