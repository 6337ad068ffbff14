/** Replaces the process that reads mail: never answers, and works without end if the mail asks for it. */
import { receiveMails } from "../../src/parser/MailPipe.ts"
import type { ParserReply, SharedMails } from "../../src/parser/ParserMessage.ts"

const handle = (...mails: ReadonlyArray<Uint8Array>) => {
  while (mails.some((bytes) => Buffer.from(bytes).toString() === "work"));
}

process.once("disconnect", () => process.exit())
process.on("message", ({ mails }: SharedMails) => handle(...mails.map(({ bytes }) => bytes)))
receiveMails((_, __, raw) => handle(raw))
process.send?.({ _tag: "Ready" } satisfies ParserReply)
