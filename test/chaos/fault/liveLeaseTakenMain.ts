import { serverProgram } from "@agentos/http-server/ServerProgram"
import { runShortLeaseServer } from "../../support/ShortLeaseServer.ts"
import { rewriting } from "./Broken.ts"

/** A server that leases what is open, whoever has it. */
runShortLeaseServer(
  rewriting(serverProgram, {
    statement: "limit request.room",
    parts: [["and (leased_until is null or leased_until <= (select now from clock))", ""]]
  })
)
