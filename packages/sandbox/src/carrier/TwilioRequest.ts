import type { FaultPlan } from "../fault/FaultPlan.ts"
import { TwilioError } from "./twilio/TwilioError.ts"

/** A request of Twilio's interface, authenticated. */
export interface TwilioRequest {
  readonly method: string
  /** Without the query. */
  readonly path: string
  readonly query: URLSearchParams
  /** The body's fields; none where there is no body. */
  readonly form: URLSearchParams
}

export interface TwilioAnswer {
  readonly status: number
  readonly body?: unknown
  /** What becomes of the answer: a fault may keep it from the client. */
  readonly delivery: "answer" | "drop" | "hang"
}

export const answer = (status: number, body?: unknown): TwilioAnswer => ({ status, body, delivery: "answer" })

/** What can be made to fail. `update` is of calls and of numbers. */
export const faulty = ["search", "buy", "release", "call", "update"] as const
export type Faulty = (typeof faulty)[number]

/**
 * Does an operation, or fails as the oldest fault planned for it says. `about` is what a fault can be `only` for, and
 * `rejection` what it is refused with for good.
 */
export const withFaults =
  (faults: FaultPlan<Faulty>) =>
  async (
    operation: Faulty,
    about: ReadonlyArray<string>,
    rejection: TwilioError,
    act: () => Promise<TwilioAnswer>
  ): Promise<TwilioAnswer> => {
    const fault = faults.take(operation, about)
    if (fault === "before") throw new TwilioError(500, 20500, "Sandbox fault: nothing was done")
    if (fault === "reject") throw rejection
    const done = await act()
    if (fault === "after") return { ...done, delivery: "drop" }
    return fault === "hang" ? { ...done, delivery: "hang" } : done
  }

export type WithFaults = ReturnType<typeof withFaults>
