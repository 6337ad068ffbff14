import { serverProgram } from "@agentos/http-server/ServerProgram"
import { runShortLeaseServer } from "../../support/ShortLeaseServer.ts"
import { rewriting } from "./Broken.ts"

/** A server that takes an acknowledgement whatever delivery it names. */
runShortLeaseServer(
  rewriting(serverProgram, {
    statement: "not is_named then 'acknowledged'",
    parts: [
      [
        "when given.delivery_id = found.delivery_id and leased_until > (select now from clock) then",
        "when given.delivery_id is not null then"
      ]
    ]
  })
)
