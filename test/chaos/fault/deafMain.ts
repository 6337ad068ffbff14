import { EventStore } from "@agentos/core"
import { serverProgramAround } from "@agentos/http-server/ServerProgram"
import { Effect } from "effect"
import { runShortLeaseServer } from "../../support/ShortLeaseServer.ts"
import { aroundEvents, withoutSignal } from "./Broken.ts"

/** A server that is not told of events, and does not look for them either once a session has had what there was. */
runShortLeaseServer(
  serverProgramAround((ports) =>
    withoutSignal(
      aroundEvents((store) =>
        EventStore.of({ ...store, countReplayableEach: () => Effect.succeed(new Map<string, number>()) })
      )(ports)
    )
  )
)
