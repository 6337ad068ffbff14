import { TelephonyProvider } from "@agentos/core"
import { serverProgramAround } from "@agentos/http-server/ServerProgram"
import { Effect } from "effect"
import { runCrashServer } from "../CrashServer.ts"
import { aroundCarrier } from "./AroundPort.ts"

/** A server that dials again when the carrier's answer was lost, which may have come of a call that rings. */
runCrashServer(
  serverProgramAround(
    aroundCarrier((carrier) =>
      TelephonyProvider.of({
        ...carrier,
        place: (call) =>
          Effect.catchIf(
            carrier.place(call),
            ({ reason }) => reason === "Unknown",
            () => carrier.place(call)
          )
      })
    )
  )
)
