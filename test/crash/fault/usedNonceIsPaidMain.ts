import { PaymentRail } from "@agentos/core"
import { serverProgramAround } from "@agentos/http-server/ServerProgram"
import { Effect } from "effect"
import { runCrashServer } from "../CrashServer.ts"
import { aroundRail } from "./AroundPort.ts"

/** A server that takes a used nonce for a payment, which a cancelled authorization leaves as well. */
runCrashServer(
  serverProgramAround(
    aroundRail((rail) =>
      PaymentRail.of({
        ...rail,
        findSettlement: (proof, ...rest) =>
          Effect.flatMap(rail.findSettlement(proof, ...rest), (found) =>
            found._tag !== "UsedOtherwise"
              ? Effect.succeed(found)
              : Effect.map(rail.readNonce(proof), ({ block }) => ({
                  _tag: "Paid" as const,
                  transaction: `0x${"0".repeat(64)}`,
                  block
                }))
          )
      })
    )
  )
)
