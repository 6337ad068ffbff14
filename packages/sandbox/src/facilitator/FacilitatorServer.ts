import type { Hex } from "viem"
import { clockRoutes, type SandboxClock } from "../clock/ClockRoutes.ts"
import { faultRoutes, makeFaultPlan } from "../shared/FaultPlan.ts"
import {
  errorResult,
  type Handler,
  HttpError,
  type JsonServer,
  ok,
  readJson,
  type Routes,
  startJsonServer
} from "../shared/JsonServer.ts"
import { faucetRoutes } from "./FaucetRoutes.ts"
import {
  ChainUnavailable,
  type Facilitator,
  type FacilitatorOptions,
  makeFacilitator,
  noncesOf,
  type PaymentRequest,
  readPaymentRequest
} from "./Facilitator.ts"

/** A reason that every facilitator client treats as a plain rejection (x402 version 2, section 9). */
const REJECTED_REASON = "insufficient_funds"

/** A running facilitator. Append /verify, /settle or /supported to its url. */
export type FacilitatorServer = JsonServer

export interface FacilitatorServerOptions extends FacilitatorOptions {
  /** 0, the default, selects a free port. */
  readonly port?: number
  /** Absent where time cannot be moved. */
  readonly clock?: SandboxClock
  /** The key of the account that gives tokens away. Without it there is no faucet. */
  readonly faucetKey?: Hex
}

const FAULT_OPERATIONS = ["verify", "settle"] as const
type FaultOperation = (typeof FAULT_OPERATIONS)[number]

/**
 * Starts a facilitator's standard HTTP interface on 127.0.0.1: POST /verify, POST /settle, GET /supported and
 * GET /health. A rejected payment is answered with 200; 503 means that the chain is unavailable.
 *
 * `clockRoutes` move the time of the sandbox, and `faucetRoutes` give test USDT to a wallet. `faultRoutes` control faults of
 * `verify` and `settle`. The subject of a fault is an authorization's nonce.
 */
export const startFacilitator = (options: FacilitatorServerOptions): Promise<FacilitatorServer> => {
  const { clock, faucetKey } = options
  const facilitator = makeFacilitator(options)
  return startJsonServer({
    routes: {
      ...facilitatorRoutes(facilitator, options.chainId),
      ...clockRoutes(clock),
      ...(faucetKey === undefined ? {} : faucetRoutes({ ...options, privateKey: faucetKey }, facilitator.blockNumber))
    },
    port: options.port ?? 0,
    mapError: (error) =>
      error instanceof ChainUnavailable ? errorResult(503, error.message, { "Retry-After": "1" }) : undefined
  })
}

const facilitatorRoutes = (facilitator: Facilitator, chainId: number): Routes => {
  const faults = makeFaultPlan<FaultOperation>()

  /** Runs the operation, or fails as the oldest matching fault says. */
  const handler =
    (operation: FaultOperation, run: (request: PaymentRequest) => Promise<unknown>, rejection: unknown): Handler =>
    async (request) => {
      const payment = readPaymentRequest(await readJson(request))
      if (payment === undefined) throw new HttpError(400, "the body is not an x402 version 2 request")
      const fault = faults.take(operation, noncesOf(payment))
      if (fault === "before") throw new HttpError(500, "sandbox fault")
      if (fault === "reject") return ok(rejection)
      const response = await run(payment)
      if (fault === "after") return "drop"
      return fault === "hang" ? "hang" : ok(response)
    }

  return {
    "/verify": { POST: handler("verify", facilitator.verify, { isValid: false, invalidReason: REJECTED_REASON }) },
    "/settle": {
      POST: handler("settle", facilitator.settle, {
        success: false,
        errorReason: REJECTED_REASON,
        transaction: "",
        network: `eip155:${chainId}`
      })
    },
    "/supported": { GET: async () => ok(facilitator.supported()) },
    "/health": { GET: async () => ok({ status: "ok", blockNumber: Number(await facilitator.blockNumber()) }) },
    ...faultRoutes(faults, FAULT_OPERATIONS)
  }
}
