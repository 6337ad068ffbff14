import type { FaultPlan } from "../../shared/FaultPlan.ts"
import { TwilioError } from "./TwilioForm.ts"

/** An authenticated request to Twilio's API. */
export interface TwilioRequest {
  readonly method: string
  /** Without the query. */
  readonly path: string
  readonly query: URLSearchParams
  /** The fields of the body; empty without a body. */
  readonly form: URLSearchParams
}

export interface TwilioResponse {
  readonly status: number
  readonly body?: unknown
  /** A fault can withhold the response from the client. */
  readonly delivery: "answer" | "drop" | "hang"
}

export const respond = (status: number, body?: unknown): TwilioResponse => ({ status, body, delivery: "answer" })

/** The operations that faults apply to. `update` is of calls and of numbers. */
export const faultOperations = ["search", "buy", "release", "call", "update"] as const
export type FaultOperation = (typeof faultOperations)[number]

/**
 * Runs an operation, or fails as the oldest matching fault says. `subjects` are compared with a fault's `only`.
 * `rejection` is the error of the mode `reject`.
 */
export const withFaults =
  (faults: FaultPlan<FaultOperation>) =>
  async (
    operation: FaultOperation,
    subjects: ReadonlyArray<string>,
    rejection: TwilioError,
    run: () => Promise<TwilioResponse>
  ): Promise<TwilioResponse> => {
    const fault = faults.take(operation, subjects)
    if (fault === "before") throw new TwilioError(500, 20500, "Sandbox fault: the operation had no effect")
    if (fault === "reject") throw rejection
    const response = await run()
    if (fault === "after") return { ...response, delivery: "drop" }
    return fault === "hang" ? { ...response, delivery: "hang" } : response
  }

export type RunWithFaults = ReturnType<typeof withFaults>
