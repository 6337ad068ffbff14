import { makeFaultPlan } from "../fault/FaultPlan.ts"
import { faultRoutes } from "../fault/FaultRoutes.ts"
import {
  failed,
  type Handler,
  HttpRefusal,
  type JsonServer,
  ok,
  readJson,
  type Routes,
  startJsonServer
} from "../http/JsonServer.ts"
import { ChainUnreachable, type FacilitatorOptions, makeFacilitator } from "./Facilitator.ts"
import { nonceOf, type PaymentRequest, readPaymentRequest } from "./PaymentRequest.ts"

/** A reason that every client of facilitators knows for a plain refusal (x402 version 2, section 9). */
const REJECTED_REASON = "insufficient_funds"

/** A facilitator that serves: /verify, /settle and /supported follow on its url. */
export type FacilitatorServer = JsonServer

export interface FacilitatorServerOptions extends FacilitatorOptions {
  /** 0, which is the default, takes a free port. */
  readonly port?: number
}

const FAULTY = ["verify", "settle"] as const

/**
 * Serves a facilitator's standard HTTP interface on 127.0.0.1: POST /verify, POST /settle, GET /supported, and
 * GET /health. A refused payment is an answer like any other (200); 503 says that the chain can't be reached.
 *
 * Beside it, faults of `verify` and `settle` for tests, see `faultRoutes`; those that are `only` for one payment name
 * its authorization's nonce.
 */
export const startFacilitator = (options: FacilitatorServerOptions): Promise<FacilitatorServer> =>
  startJsonServer({
    routes: facilitatorRoutes(options),
    port: options.port ?? 0,
    explain: (error) =>
      error instanceof ChainUnreachable ? failed(503, error.message, { "Retry-After": "1" }) : undefined
  })

const facilitatorRoutes = (options: FacilitatorOptions): Routes => {
  const facilitator = makeFacilitator(options)
  const faults = makeFaultPlan<(typeof FAULTY)[number]>()

  /** Does the operation, or fails as the oldest fault planned for it says. */
  const paid =
    (
      operation: (typeof FAULTY)[number],
      act: (request: PaymentRequest) => Promise<unknown>,
      rejected: unknown
    ): Handler =>
    async (request) => {
      const payment = readPaymentRequest(await readJson(request))
      if (payment === undefined) throw new HttpRefusal(400, "not a request of x402 version 2")
      const fault = faults.take(operation, nonceOf(payment))
      if (fault === "before") throw new HttpRefusal(500, "sandbox fault")
      if (fault === "reject") return ok(rejected)
      const done = await act(payment)
      if (fault === "after") return "drop"
      return fault === "hang" ? "hang" : ok(done)
    }

  return {
    "/verify": { POST: paid("verify", facilitator.verify, { isValid: false, invalidReason: REJECTED_REASON }) },
    "/settle": {
      POST: paid("settle", facilitator.settle, {
        success: false,
        errorReason: REJECTED_REASON,
        transaction: "",
        network: `eip155:${options.chainId}`
      })
    },
    "/supported": { GET: async () => ok(facilitator.supported()) },
    "/health": { GET: async () => ok({ status: "ok", blockNumber: Number(await facilitator.height()) }) },
    ...faultRoutes(faults, FAULTY)
  }
}
