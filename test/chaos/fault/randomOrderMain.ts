import { serverProgram } from "@agentos/http-server/ServerProgram"
import { runShortLeaseServer } from "../../support/ShortLeaseServer.ts"
import { rewriting } from "./Broken.ts"

/** A server that leases any events, and not the oldest. */
runShortLeaseServer(
  rewriting(serverProgram, {
    statement: "limit request.room",
    parts: [["order by created_at, event_id limit request.room", "order by md5(event_id::text) limit request.room"]]
  })
)
