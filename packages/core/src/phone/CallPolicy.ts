import { Context } from "effect"

/** What calls a tenant may place. The operator configures it. */
export interface CallPolicy {
  /** Countries and territories that may be called (ISO 3166-1 alpha-2). The price is flat, so each is a decision. */
  readonly countries: ReadonlySet<string>
  /** Calls that may go on at one time. */
  readonly atOnce: { readonly perNumber: number; readonly perTenant: number }
  readonly perHour: CallsPerHour
}

/** How many calls a tenant may place within an hour. */
export interface CallsPerHour {
  readonly calls: number
  /** To one number. */
  readonly toOneNumber: number
  /** Calls that were answered and over within `SHORT_CALL_SECONDS`: many of them are traffic pumping. */
  readonly short: number
}

export const DEFAULT_CALL_POLICY: CallPolicy = {
  countries: new Set(["US", "CA"]),
  atOnce: { perNumber: 5, perTenant: 20 },
  perHour: { calls: 60, toOneNumber: 10, short: 20 }
}

/** The policy of the host; the default one unless the host provides another. */
export const CallPolicy = Context.Reference<CallPolicy>("@agentos/core/phone/CallPolicy", {
  defaultValue: () => DEFAULT_CALL_POLICY
})
