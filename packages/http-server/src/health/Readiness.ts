import { StorageUnavailable } from "@agentos/api"
import { OperationStore, Transactor } from "@agentos/core"
import { Clock, Context, Duration, Effect, Layer, Semaphore } from "effect"
import { watchClock } from "./ClockWatch.ts"

/** The store counts as unavailable if it does not answer within this time. */
const READY_WITHIN = Duration.seconds(2)
/** How long the result of a check is used, in milliseconds. */
const KNOWN_MILLIS = 2_000

/** After an outage, payments from before it are completed first: no new one is asked for this long while any is open. */
const PAYMENTS_FIRST_MILLIS = 3_000
const HELD_MILLIS = 250
const OPEN_LIMIT = 100

/** Whether this server can deliver paid services. A server that can't does not ask for payments. */
export class Readiness extends Context.Service<
  Readiness,
  {
    /** Asks the store now. False while the clock is wrong, too. */
    readonly check: Effect.Effect<boolean>
    /**
     * Fails if the store was not ready when it was last asked, at most two seconds ago, and for up to three seconds after an
     * outage while payments are under way.
     */
    readonly require: Effect.Effect<void, StorageUnavailable>
    /** Fails if the clock is wrong, so that an honest payment would look expired or early. Sends no query. */
    readonly requireClock: Effect.Effect<void, StorageUnavailable>
    /** Records that the store was found unavailable. It is asked again after two seconds. */
    readonly reportUnavailable: Effect.Effect<void>
  }
>()("@agentos/http-server/health/Readiness") {
  static readonly layer = Layer.effect(
    Readiness,
    Effect.gen(function* () {
      const { ready } = yield* Transactor
      const { countOpen } = yield* OperationStore
      const isClockRight = yield* watchClock
      const asking = Semaphore.makeUnsafe(1)
      let known = { isReady: true, until: 0 }
      /** When payments no longer come first; `lost` during an outage. */
      let firstUntil: number | "lost" | undefined

      const learn = (isReady: boolean) =>
        Effect.map(Clock.currentTimeMillis, (now) => {
          if (!isReady) firstUntil = "lost"
          if (firstUntil === undefined || !isReady) known = { isReady, until: now + KNOWN_MILLIS }
          return isReady
        })
      const isUnderWay = countOpen(OPEN_LIMIT).pipe(
        Effect.map((open) => open.some(({ state }) => state !== "refund_due" && state !== "refused")),
        Effect.timeoutOrElse({ duration: READY_WITHIN, orElse: () => Effect.succeed(false) }),
        Effect.catchDefect(() => Effect.succeed(false))
      )
      /** If the store was lost before, holds new payments while older ones are under way. */
      const putPaymentsFirst = Effect.gen(function* () {
        const now = yield* Clock.currentTimeMillis
        if (firstUntil === "lost") firstUntil = now + PAYMENTS_FIRST_MILLIS
        if (firstUntil === undefined) return
        const isHeld = now < firstUntil && (yield* isUnderWay)
        if (!isHeld) firstUntil = undefined
        known = { isReady: !isHeld, until: now + (isHeld ? HELD_MILLIS : KNOWN_MILLIS) }
      })
      const check = ready.pipe(
        Effect.timeoutOrElse({ duration: READY_WITHIN, orElse: () => Effect.succeed(false) }),
        Effect.catchDefect(() => Effect.succeed(false)),
        Effect.flatMap((isReady) => Effect.flatMap(isClockRight, (isRight) => learn(isReady && isRight))),
        Effect.tap((isReady) => (isReady ? putPaymentsFirst : Effect.void))
      )
      /** Not known if the clock was set back. */
      const isKnown = (now: number) => now < known.until && now >= known.until - KNOWN_MILLIS
      const recentOr = (unknown: Effect.Effect<boolean>) =>
        Effect.flatMap(Clock.currentTimeMillis, (now) => (isKnown(now) ? Effect.succeed(known.isReady) : unknown))
      /** Unlike the store, not ready while payments come first. */
      const current = Effect.map(recentOr(check), () => known.isReady)

      const unavailable = Effect.fail(new StorageUnavailable({ withPayment: false }))

      return {
        check,
        requireClock: Effect.flatMap(isClockRight, (isRight) => (isRight ? Effect.void : unavailable)),
        // One request asks for all that wait.
        require: Effect.flatMap(recentOr(asking.withPermits(1)(current)), (isReady) =>
          isReady ? Effect.void : unavailable
        ),
        reportUnavailable: Effect.asVoid(learn(false))
      }
    })
  )
}
