import { Effect, Option, Semaphore } from "effect"
import * as PollingWorker from "../kernel/PollingWorker.ts"
import type { ProviderError } from "../kernel/ProviderError.ts"
import * as Timestamp from "../kernel/Timestamp.ts"
import { deadlineOf } from "../phone/Allowance.ts"
import type { Call } from "../phone/Call.ts"
import { sendLimit } from "../phone/CallLimits.ts"
import * as CallProgress from "../phone/CallProgress.ts"
import { CallReports } from "../phone/Calls.ts"
import { CallStore } from "../phone/CallStore.ts"
import { makeDeclinedCalls } from "../phone/DeclinedCalls.ts"
import { TelephonyProvider } from "../phone/TelephonyProvider.ts"

/** Interval between polls for due calls. A call exceeds its limit by at most this plus the carrier's delay. */
const POLL_INTERVAL = "1 second"
/** Maximum number of calls processed concurrently. */
const CONCURRENCY = 64
/** Maximum number of concurrent writers: each transaction uses a connection, and conversations need connections too. */
const WRITERS = 3
/** Lease of a call that is checked. A check that fails, or whose server dies, is retried after it. */
const LEASE = 2 * Timestamp.SECOND

const watchCalls = Effect.gen(function* () {
  const calls = yield* CallStore
  const { apply, change } = yield* CallReports
  const writers = yield* Semaphore.make(WRITERS)
  const reports: Pick<CallReports["Service"], "apply" | "change"> = {
    apply: (callId, report) => writers.withPermit(apply(callId, report)),
    change: (callId, decide) => writers.withPermit(change(callId, decide))
  }
  const provider = yield* TelephonyProvider

  /** Polls the carrier for a call and stores the answer. A call that the carrier does not know has ended. */
  const ask = Effect.fnUntraced(function* ({ callId }: Call, providerCallId: string) {
    const found = yield* provider.findCall(providerCallId)
    const at = yield* Timestamp.now
    const lost: CallProgress.CallReport = { _tag: "Ended", at, ending: "failed", seconds: null }
    yield* reports.apply(callId, Option.isSome(found) ? found.value.report : lost)
  })

  /**
   * Ends a call that has expired, unless its limit was raised after the call was taken. A call that has ended before
   * keeps the reason and the time of its own end.
   */
  const end = Effect.fnUntraced(function* (call: Call, providerCallId: string) {
    if (call.hangUpReason === null) yield* ask(call, providerCallId)
    const current = yield* reports.change(call.callId, ending)
    if (Option.isNone(current) || current.value.hangUpReason === null) return
    yield* provider.hangUp(providerCallId)
    yield* ask(call, providerCallId)
  })

  /**
   * Sends the limit to the carrier, which rejects it if the call has ended. Returns the limit that the carrier has
   * then.
   */
  const limit = (call: Call, providerCallId: string) =>
    sendLimit(calls, provider, call, providerCallId).pipe(
      Effect.catchIf(
        ({ reason }) => reason === "Rejected",
        () => Effect.as(ask(call, providerCallId), call)
      ),
      Effect.map(({ authorizedSeconds }) => authorizedSeconds)
    )

  const check = Effect.fnUntraced(function* (call: Call): Effect.fn.Return<void, ProviderError> {
    const { hangUpReason, providerCallId } = call
    // The request that dials the call determines whether it was created.
    if (providerCallId === null) return
    const deadline = deadlineOf(call)
    const now = yield* Timestamp.now
    let sentLimit: number | undefined
    if (hangUpReason !== null || (deadline !== null && now >= deadline)) yield* end(call, providerCallId)
    else if (deadline === null) yield* ask(call, providerCallId)
    else sentLimit = yield* limit(call, providerCallId)
    yield* reports.change(call.callId, (current, at) => {
      // A limit that the carrier does not have yet stays due at once. A call whose hangup was requested meanwhile has
      // its own due time, so that the agent's last words are played first.
      const isSettled =
        sentLimit === undefined || (sentLimit === current.authorizedSeconds && current.hangUpReason === null)
      return current.state !== "ended" && isSettled
        ? { ...current, watchAt: CallProgress.nextWatch(current, at) }
        : current
    })
  })

  /** A change of the call by others ends the lease: the call is due when they say. Checking it twice has no effect. */
  const lease = ({ callId, watchAt }: Call): PollingWorker.Lease => {
    let leasedUntil = watchAt
    return {
      millis: LEASE,
      renew: Effect.map(
        Effect.suspend(() => calls.postponeWatch(callId, leasedUntil, LEASE)),
        (renewed) => {
          leasedUntil = renewed
          return renewed !== null
        }
      )
    }
  }

  return yield* PollingWorker.run({
    name: "calls",
    concurrency: CONCURRENCY,
    interval: POLL_INTERVAL,
    take: (limit) => calls.takeWatched(limit, LEASE),
    handle: (call) => PollingWorker.whileLeased(lease(call))(check(call)),
    failed: ({ callId }, error) => Effect.logWarning(`checking call ${callId} failed; retrying: ${error.message}`)
  })
})

/** Returns the call with a hangup requested if it has expired. Runs on the current call, under its lock. */
const ending = (call: Call, now: Timestamp.Timestamp): Call => {
  const deadline = deadlineOf(call)
  if (deadline === null || now < deadline) return call
  return CallProgress.requestHangUp(call, call.direction === "inbound" ? "allowance_exhausted" : "time_limit", now)
}

/** Reports the declined calls of the windows that have ended. Several servers may handle one; only one reports it. */
const reportDeclined = Effect.gen(function* () {
  const calls = yield* CallStore
  const { reportDue } = yield* makeDeclinedCalls
  return yield* PollingWorker.run({
    name: "declined calls",
    concurrency: WRITERS,
    interval: POLL_INTERVAL,
    take: (limit) => Effect.flatMap(Timestamp.now, (now) => calls.dueDeclined(now, limit)),
    handle: reportDue,
    failed: () => Effect.void
  })
})

/**
 * Watches open calls for as long as it runs: sends their limits to the carrier, ends expired calls, polls the calls
 * without a report from the carrier, and reports declined calls. Any number of servers can run it: one server at a time
 * processes a call.
 */
export const run = Effect.raceFirst(watchCalls, reportDeclined)
