import { Duration, Effect, FiberSet, Option, Semaphore } from "effect"
import type { ProviderError } from "../kernel/ProviderError.ts"
import * as Timestamp from "../kernel/Timestamp.ts"
import type { Call } from "../phone/Call.ts"
import { tellLimit } from "../phone/CallLimit.ts"
import * as CallProgress from "../phone/CallProgress.ts"
import { CallReports } from "../phone/CallReports.ts"
import { CallStore } from "../phone/CallStore.ts"
import { TelephonyProvider } from "../phone/TelephonyProvider.ts"

/** How often it is looked for calls that are due: a limit is overrun by no more than this and what the carrier takes. */
const LOOK_EVERY = Duration.seconds(1)
/** How many calls are seen to at one time. */
const CONCURRENCY = 64
/** Of those, how many write at one time: a transaction has a connection to itself, and conversations wait for one too. */
const WRITERS = 3
/** A look that fails, or whose server dies, is made again after this. */
const LOOK_AGAIN = 2 * Timestamp.SECOND

/**
 * Sees to calls that go on, for as long as it runs: tells the carrier their limits, ends those that are over, and finds
 * out about those of which nobody told. Any number of servers may run it: each call is one's at a time.
 */
export const run: Effect.Effect<never, never, CallStore | CallReports | TelephonyProvider> = Effect.gen(function* () {
  const calls = yield* CallStore
  const { apply, change } = yield* CallReports
  const writers = yield* Semaphore.make(WRITERS)
  const reports: Pick<CallReports["Service"], "apply" | "change"> = {
    apply: (callId, report) => writers.withPermit(apply(callId, report)),
    change: (callId, decide) => writers.withPermit(change(callId, decide))
  }
  const provider = yield* TelephonyProvider
  const working = yield* FiberSet.make<void>()

  /** What the carrier says of a call, written down. A call that it does not know is over. */
  const ask = Effect.fnUntraced(function* ({ callId }: Call, providerCallId: string) {
    const found = yield* provider.findCall(providerCallId)
    const at = yield* Timestamp.now
    const lost: CallProgress.CallReport = { _tag: "Ended", at, ending: "failed", seconds: null }
    yield* reports.apply(callId, Option.isSome(found) ? found.value.report : lost)
  })

  /** Ends a call whose time is over, unless it was given more since it was taken to be looked at. */
  const end = Effect.fnUntraced(function* (call: Call, providerCallId: string) {
    const current = yield* reports.change(call.callId, ending)
    if (Option.isNone(current) || current.value.hangUpReason === null) return
    yield* provider.hangUp(providerCallId)
    yield* ask(call, providerCallId)
  })

  /** Tells the carrier the limit; who has ended says so by refusing it. Answers the limit that it knows then. */
  const limit = (call: Call, providerCallId: string) =>
    tellLimit(calls, provider, call, providerCallId).pipe(
      Effect.catchIf(
        ({ reason }) => reason === "Rejected",
        () => Effect.as(ask(call, providerCallId), call)
      ),
      Effect.map(({ authorizedSeconds }) => authorizedSeconds)
    )

  const look = Effect.fnUntraced(function* (call: Call): Effect.fn.Return<void, ProviderError> {
    const { hangUpReason, providerCallId } = call
    // Whoever dials it finds out whether it came to be.
    if (providerCallId === null) return
    const deadline = CallProgress.deadlineOf(call)
    const now = yield* Timestamp.now
    let told: number | undefined
    if (hangUpReason !== null || (deadline !== null && now >= deadline)) yield* end(call, providerCallId)
    else if (deadline === null) yield* ask(call, providerCallId)
    else told = yield* limit(call, providerCallId)
    yield* reports.change(call.callId, (current, at) => {
      // A limit of which the carrier does not know yet is due at once, and stays so. A call that was to be ended since
      // then has a moment of its own: what its agent says last is heard first.
      const isSettled = told === undefined || (told === current.authorizedSeconds && current.hangUpReason === null)
      return current.state !== "ended" && isSettled
        ? { ...current, watchAt: CallProgress.nextWatch(current, at) }
        : current
    })
  })

  const see = (call: Call) =>
    look(call).pipe(
      Effect.catch((error) =>
        Effect.logWarning(`the call ${call.callId} could not be seen to; trying again: ${error.message}`)
      ),
      Effect.catchCause((cause) => Effect.logError(`the call ${call.callId} could not be seen to`, cause))
    )

  const pass = Effect.gen(function* () {
    const room = CONCURRENCY - (yield* FiberSet.size(working))
    const due = room > 0 ? yield* calls.takeWatched(room, LOOK_AGAIN) : []
    yield* Effect.forEach(due, (call) => FiberSet.run(working, see(call)), { discard: true })
    return due.length === room && room > 0
  })

  return yield* pass.pipe(
    // Whatever it was, a connection's own interruption included: this loop ends with its fiber and not before.
    Effect.catchCause((cause) =>
      Effect.as(Effect.logError("calls could not be looked for; trying again", cause), false)
    ),
    Effect.flatMap((more) => Effect.sleep(more ? Duration.millis(50) : LOOK_EVERY)),
    Effect.forever
  )
}).pipe(Effect.scoped)

/** The call as it is under the lock, about to be ended if its time is over by then. */
const ending = (call: Call, now: Timestamp.Timestamp): Call => {
  const deadline = CallProgress.deadlineOf(call)
  if (deadline === null || now < deadline) return call
  return CallProgress.hangingUp(call, call.direction === "inbound" ? "allowance_exhausted" : "time_limit", now)
}
