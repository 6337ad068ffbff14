/** Replaces the process that reads mail: never answers, and works without end if the mail asks for it. */
import type { ParserReply, ParserRequest } from "../../src/parser/ParserMessage.ts"

process.once("disconnect", () => process.exit())
process.on("message", (request: ParserRequest) => {
  if (request._tag !== "Read" && request._tag !== "CheckSender") return
  while (Buffer.from(request.bytes).toString() === "work");
})
process.send?.({ _tag: "Ready" } satisfies ParserReply)
