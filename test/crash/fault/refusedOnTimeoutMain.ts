import { PaymentRail } from "@agentos/core"
import { serverProgramAround } from "@agentos/http-server/ServerProgram"
import { Effect } from "effect"
import { runCrashServer } from "../CrashServer.ts"
import { aroundRail } from "./AroundPort.ts"

/**
 * A server that takes a facilitator's silence for a no, and does not ask the chain: its client is told 402 although the
 * money has moved, and signs again.
 */
runCrashServer(
  serverProgramAround(
    aroundRail((rail) => {
      const refused = new Set<string>()
      return PaymentRail.of({
        ...rail,
        settle: (proof, terms) =>
          Effect.map(rail.settle(proof, terms), (answer) => {
            if (answer._tag !== "Unknown") return answer
            refused.add(proof.nonce)
            return { _tag: "Refused", message: answer.message }
          }),
        findSettlement: (proof, ...rest) =>
          refused.has(proof.nonce)
            ? Effect.succeed({ _tag: "Unused", expired: true })
            : rail.findSettlement(proof, ...rest)
      })
    })
  )
)
