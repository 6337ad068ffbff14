import { CallStore, PhoneNumberStore } from "@agentos/core"
import { serverProgramAround } from "@agentos/http-server/ServerProgram"
import { Effect, Option } from "effect"
import { randomUUID } from "node:crypto"
import { runCrashServer } from "../CrashServer.ts"
import { aroundCalls, aroundNumbers } from "./AroundPort.ts"

const aroundChoice = aroundNumbers((store) =>
  PhoneNumberStore.of({ ...store, reservation: () => Effect.succeed(Option.none()) })
)
const aroundGrant = aroundCalls((store) =>
  CallStore.of({ ...store, grant: (callId, _operationId, seconds) => store.grant(callId, randomUUID(), seconds) })
)

/**
 * A server that begins anew with what it takes up: it searches without looking for the number that the purchase has
 * reserved, and grants the seconds of an extension again.
 */
runCrashServer(serverProgramAround((ports) => aroundGrant(aroundChoice(ports))))
