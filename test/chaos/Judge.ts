import { acknowledgementRule, endRule, staleRule } from "./AcknowledgementRules.ts"
import { makeCases, type Rule } from "./Cases.ts"
import { countRule, inFlightRule, leaseRule, lossRule, strangerRule } from "./DeliveryRules.ts"
import type { History } from "./History.ts"
import { givenBackRule, holdRule } from "./HoldRules.ts"
import { commitOrderRule, sessionOrderRule } from "./OrderRules.ts"

/** Every promise that a history is held against. */
export const RULES = {
  "every event is acknowledged by its owner": lossRule,
  "no tenant sees another's": strangerRule,
  "what is delivered is leased": leaseRule,
  "deliveries are counted": countRule,
  "64 deliveries at most are in flight": inFlightRule,
  "no event is held by two": holdRule,
  "what is given back was given up": givenBackRule,
  "a session gets events in order": sessionOrderRule,
  "the order is that of commits": commitOrderRule,
  "what is acknowledged was acknowledged": acknowledgementRule,
  "a stale acknowledgement was stale": staleRule,
  "what is acknowledged stays so": endRule
} as const satisfies Readonly<Record<string, Rule>>

export type RuleName = keyof typeof RULES

export interface Violation {
  readonly rule: RuleName
  readonly text: string
}

/** Holds what clients and producer saw, and what the database noted, against every promise. */
export const judge = (history: History): ReadonlyArray<Violation> => {
  const cases = makeCases(history)
  return (Object.keys(RULES) as ReadonlyArray<RuleName>).flatMap((rule) =>
    [...RULES[rule](cases)].map((text) => ({ rule, text }))
  )
}
