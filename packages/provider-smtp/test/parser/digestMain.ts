/** Replaces the process that reads mail: replies with the size and the hash of each mail. */
import { hash } from "node:crypto"
import { receiveMails } from "../../src/parser/MailPipe.ts"
import type { ParserReply } from "../../src/parser/ParserMessage.ts"

const reply = (message: ParserReply): void => void process.send?.(message)

process.once("disconnect", () => process.exit())
receiveMails((id, { _tag }, raw) => {
  const message = `${_tag} ${raw.length} ${hash("sha256", raw)}`
  reply({ _tag: "Answer", id, answer: { _tag: "Unreadable", message } })
})
reply({ _tag: "Ready" })
