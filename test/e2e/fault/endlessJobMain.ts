import { EventStore } from "@agentos/core"
import { serverProgramAround } from "@agentos/http-server/ServerProgram"
import { Effect, Layer } from "effect"
import { runShortLeaseServer } from "../../support/ShortLeaseServer.ts"

const endless = (store: EventStore["Service"]) => EventStore.of({ ...store, expire: () => Effect.never })

/** A server of which one job, that of events that expire, never comes to its end. */
runShortLeaseServer(
  serverProgramAround((ports) =>
    Layer.effect(EventStore, Effect.map(EventStore, endless)).pipe(Layer.provideMerge(ports))
  )
)
