/** Replaces the process that reads mail: never answers, and works without end if the mail asks for it. */
import type { ParserReply, ParserRequest } from "../../src/parser/ParserMessage.ts"

process.once("disconnect", () => process.exit())
process.on("message", (request: ParserRequest) => {
  if (request._tag === "Cancel" || request._tag === "Piece") return
  const mails = request._tag === "Mails" ? request.mails : [request]
  while (mails.some(({ bytes }) => Buffer.from(bytes).toString() === "work"));
})
process.send?.({ _tag: "Ready" } satisfies ParserReply)
