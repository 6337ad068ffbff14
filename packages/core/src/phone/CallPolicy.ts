import { Context } from "effect"

/** The limits on the calls that a tenant may place, configured by the operator. */
export interface CallPolicy {
  /**
   * The countries and territories that may be called (ISO 3166-1 alpha-2). The price is the same for all of them, so
   * the operator decides on each one.
   */
  readonly countries: ReadonlySet<string>
  /** The maximum number of concurrent outbound calls. */
  readonly atOnce: { readonly perNumber: number; readonly perTenant: number }
  readonly perHour: CallsPerHour
}

/** The maximum number of calls that a tenant may place within an hour. */
export interface CallsPerHour {
  readonly calls: number
  /** To one number. */
  readonly toOneNumber: number
  /** Calls that ended within `SHORT_CALL_SECONDS` of their answer: many of them indicate traffic pumping. */
  readonly short: number
}

export const DEFAULT_CALL_POLICY: CallPolicy = {
  countries: new Set(["US", "CA"]),
  atOnce: { perNumber: 5, perTenant: 20 },
  perHour: { calls: 60, toOneNumber: 10, short: 20 }
}

/** The policy of the host; `DEFAULT_CALL_POLICY` unless the host provides another. */
export const CallPolicy = Context.Reference<CallPolicy>("@agentos/core/phone/CallPolicy", {
  defaultValue: () => DEFAULT_CALL_POLICY
})
