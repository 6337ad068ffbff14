import { serverProgram } from "@agentos/http-server/ServerProgram"
import { runShortLeaseServer } from "../../support/ShortLeaseServer.ts"
import { rewriting } from "./Broken.ts"

/** A server that does not ask whose event it is that somebody acknowledges. */
runShortLeaseServer(
  rewriting(serverProgram, {
    statement: "not is_named then 'acknowledged'",
    parts: [
      ["and given.tenant_id is not distinct from events.tenant_id", ""],
      ["and found.tenant_id = given.tenant_id", ""]
    ]
  })
)
