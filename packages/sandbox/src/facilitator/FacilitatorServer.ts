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
  /** Further networks, with the same gas wallet. */
  readonly others?: ReadonlyArray<Omit<FacilitatorOptions, "privateKey">>
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
 * Starts a facilitator's standard HTTP interface on 127.0.0.1, for one or more networks: POST /verify, POST /settle, GET /supported and
 * GET /health. A rejected payment is answered with 200; 503 means that the chain is unavailable.
 *
 * `clockRoutes` move the time of the sandbox, and `faucetRoutes` give test USDT to a wallet. `faultRoutes` control faults of
 * `verify` and `settle`. The subject of a fault is an authorization's nonce.
 */
export const startFacilitator = (options: FacilitatorServerOptions): Promise<FacilitatorServer> => {
  const { clock, faucetKey, others = [], privateKey } = options
  const furtherOnes = others.map((other) => makeFacilitator({ ...other, privateKey }))
  const facilitators = [makeFacilitator(options), ...furtherOnes] as const
  return startJsonServer({
    routes: {
      ...facilitatorRoutes(facilitators),
      ...clockRoutes(clock),
      ...(faucetKey === undefined ? {} : faucetRoutes([options, ...others], faucetKey))
    },
    port: options.port ?? 0,
    mapError: (error) =>
      error instanceof ChainUnavailable ? errorResult(503, error.message, { "Retry-After": "1" }) : undefined
  })
}

const facilitatorRoutes = (facilitators: readonly [Facilitator, ...ReadonlyArray<Facilitator>]): Routes => {
  const faults = makeFaultPlan<FaultOperation>()
  const [first] = facilitators

  /** Runs the operation, or fails as the oldest matching fault says. */
  const handler =
    (
      operation: FaultOperation,
      run: (facilitator: Facilitator, payment: PaymentRequest) => Promise<unknown>,
      rejection: (network: string) => unknown
    ): Handler =>
    async (request) => {
      const payment = readPaymentRequest(await readJson(request))
      if (payment === undefined) throw new HttpError(400, "the body is not an x402 version 2 request")
      const wanted = payment.paymentRequirements
      const onNetwork = facilitators.filter(({ network }) => network === wanted.network)
      const ofToken = onNetwork.find(({ asset }) => asset.toLowerCase() === wanted.asset.toLowerCase())
      // The first one rejects a network that none has, and the first on a network a token that none has.
      const facilitator = ofToken ?? onNetwork[0] ?? first
      const fault = faults.take(operation, noncesOf(payment))
      if (fault === "before") throw new HttpError(500, "sandbox fault")
      if (fault === "reject") return ok(rejection(facilitator.network))
      const response = await run(facilitator, payment)
      if (fault === "after") return "drop"
      return fault === "hang" ? "hang" : ok(response)
    }

  const verify = handler(
    "verify",
    (facilitator, payment) => facilitator.verify(payment),
    () => ({ isValid: false, invalidReason: REJECTED_REASON })
  )
  const settle = handler(
    "settle",
    (facilitator, payment) => facilitator.settle(payment),
    (network) => ({ success: false, errorReason: REJECTED_REASON, transaction: "", network })
  )
  return {
    "/verify": { POST: verify },
    "/settle": { POST: settle },
    "/supported": {
      GET: async () => {
        const supported = facilitators.map((facilitator) => facilitator.supported())
        const kinds = new Map(supported.flatMap((one) => one.kinds).map((kind) => [kind.network, kind]))
        const extensions = new Set(supported.flatMap((one) => one.extensions))
        return ok({ ...supported[0], kinds: [...kinds.values()], extensions: [...extensions] })
      }
    },
    "/health": { GET: async () => ok({ status: "ok", blockNumber: Number(await latestBlock(facilitators)) }) },
    ...faultRoutes(faults, FAULT_OPERATIONS)
  }
}

/** Returns the latest block number of the first chain. Fails with `ChainUnavailable` if one of the chains is. */
const latestBlock = async (facilitators: readonly [Facilitator, ...ReadonlyArray<Facilitator>]): Promise<bigint> => {
  const [first, ...others] = facilitators
  const [number] = await Promise.all([first.blockNumber(), ...others.map(({ blockNumber }) => blockNumber())])
  return number
}
