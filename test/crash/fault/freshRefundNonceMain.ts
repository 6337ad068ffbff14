import { PaymentRail } from "@agentos/core"
import { serverProgramAround } from "@agentos/http-server/ServerProgram"
import { randomBytes } from "node:crypto"
import { runCrashServer } from "../CrashServer.ts"
import { aroundRail } from "./AroundPort.ts"

/** A server that pays back under another nonce each time it is asked: by a second transfer, when it was killed over the first. */
runCrashServer(
  serverProgramAround(
    aroundRail((rail) =>
      PaymentRail.of({
        ...rail,
        refund: (refund) => rail.refund({ ...refund, nonce: `0x${randomBytes(32).toString("hex")}` })
      })
    )
  )
)
