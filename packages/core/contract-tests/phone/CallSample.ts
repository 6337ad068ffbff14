import {
  type Call,
  CallProgress,
  CallStore,
  type NewTurn,
  type PhoneNumber,
  Timestamp,
  type TurnRole
} from "@agentos/core"
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import * as Fresh from "../Fresh.ts"
import { StoreClock } from "../StoreClock.ts"
import * as Numbers from "./PhoneNumberSample.ts"

export const LIMIT = 300

/** An outbound call of the number that has just begun, unless `parts` say otherwise; not yet stored. */
export const call = Effect.fnUntraced(function* (number: PhoneNumber, parts?: Partial<Call>) {
  const clock = yield* StoreClock
  const now = yield* clock.now
  const made: Call = {
    callId: yield* Fresh.id,
    tenantId: number.tenantId,
    phoneNumberId: number.phoneNumberId,
    agentId: number.agentId,
    direction: "outbound",
    fromNumber: number.number,
    toNumber: "+14155550150",
    state: "queued",
    providerCallId: null,
    greeting: null,
    authorizedSeconds: LIMIT,
    extendedSeconds: 0,
    hangUpReason: null,
    answeredBy: null,
    endReason: null,
    connectedSeconds: 0,
    watchAt: CallProgress.firstWatch(now),
    createdAt: now,
    answeredAt: null,
    endedAt: null,
    ...parts
  }
  return made
})

/** A stored call of the number. */
export const stored = Effect.fnUntraced(function* (number: PhoneNumber, parts?: Partial<Call>) {
  const store = yield* CallStore
  const made = yield* call(number, parts)
  assert.isTrue(yield* store.create(made))
  return made
})

/** The fields of an answered call that differ from a new one. */
export const answered = Effect.gen(function* () {
  const clock = yield* StoreClock
  const now = yield* clock.now
  return { state: "in_progress", answeredAt: now, watchAt: Timestamp.add(now, 60_000) } as const
})

/** Returns the call after it has ended. */
export const ended = (call: Call): Call => ({
  ...call,
  state: "ended",
  endReason: "completed",
  connectedSeconds: 12,
  watchAt: null,
  endedAt: Timestamp.add(call.createdAt, 12_000)
})

/** A new tenant with a number, and functions that make its calls. */
export const caller = Effect.map(Numbers.owner, ({ number, tenant, tenantId }) => ({
  tenant,
  tenantId,
  number,
  begun: (parts?: Partial<Call>) => stored(number, parts),
  answered: (parts?: Partial<Call>) => Effect.flatMap(answered, (state) => stored(number, { ...state, ...parts }))
}))

/** Returns the stored call. */
export const found = Effect.fnUntraced(function* ({ callId, tenantId }: Pick<Call, "callId" | "tenantId">) {
  const store = yield* CallStore
  const lookup = yield* store.find(tenantId, callId)
  return lookup._tag === "Owned" ? lookup.value : yield* Effect.die(new Error(`no call ${callId}`))
})

/** A turn with a time in 2026. */
export const said = (text: string, role: TurnRole = "caller"): NewTurn => ({ role, text, at: SAID_AT })
const SAID_AT = Timestamp.Timestamp.make(1_775_000_000_123)

/** Later than other tests have calls polled, and longer than all tests together advance the clock. */
const LATER = Timestamp.HOUR
const FAR = 3_650 * Timestamp.DAY

/** The store, with no calls to be polled except those that the test adds. */
export const unwatched: Effect.Effect<CallStore["Service"], never, CallStore | StoreClock> = Effect.gen(function* () {
  const store = yield* CallStore
  const clock = yield* StoreClock
  yield* clock.advance(LATER)
  for (;;) {
    const taken = yield* store.takeWatched(1_000, FAR)
    if (taken.length === 0) return store
  }
})
