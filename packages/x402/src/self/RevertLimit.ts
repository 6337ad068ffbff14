import { RateLimiter, type RateRule, type SettleAnswer } from "@agentos/core"
import * as FacilitatorAnswer from "../facilitator/FacilitatorAnswer.ts"
import { Effect } from "effect"

/**
 * A payer whose transfers revert, although their simulations pass, costs the gas wallet a transaction each time. Three
 * reverts within an hour stop its settlements for 20 minutes, and each later one for 20 minutes more, up to 80. The
 * servers of a deployment share the count.
 */
const REVERTS: RateRule = {
  name: "settlement-reverts",
  burst: 3,
  perSecond: 3 / 3_600,
  isShared: true
}
/** Settlements of one payer that may wait for their transactions at once. After a revert it is one. */
const IN_FLIGHT_MAX = 10

/** The outcome of a settlement, and whether its transaction reverted. */
export interface Settled {
  readonly answer: SettleAnswer
  readonly reverted: boolean
}

/** Bounds the gas that each payer can have wasted. */
export interface RevertLimit {
  /**
   * Settles a payment of the payer, unless its transfers have reverted too often: then it returns `refusal`, and nothing is
   * spent. Too many settlements at once are answered with `Unknown`, so that they are tried again.
   */
  readonly guard: <E>(
    payer: string,
    settle: Effect.Effect<Settled, E>,
    refusal: Effect.Effect<SettleAnswer, E>
  ) => Effect.Effect<SettleAnswer, E>
}

/** Makes a limit on the rate limiter of the process; if that one admits everything, on one of its own. */
export const make: Effect.Effect<RevertLimit> = Effect.gen(function* () {
  const given = yield* RateLimiter.RateLimiter
  const limiter = given === RateLimiter.unlimited ? RateLimiter.makeLocal() : given
  const inFlight = new Map<string, number>()

  const count = (payer: string, by: number) =>
    Effect.sync(() => {
      const now = (inFlight.get(payer) ?? 0) + by
      if (now === 0) inFlight.delete(payer)
      else inFlight.set(payer, now)
    })

  return {
    guard: (from, settle, refusal) =>
      Effect.gen(function* () {
        const payer = from.toLowerCase()
        const { remaining } = yield* limiter.take(REVERTS, payer, 0)
        if (remaining < 1) return yield* refusal
        const most = remaining < REVERTS.burst ? 1 : IN_FLIGHT_MAX
        if ((inFlight.get(payer) ?? 0) >= most) return BUSY
        const { answer } = yield* Effect.acquireUseRelease(
          count(payer, 1),
          () => Effect.tap(settle, (settled) => (settled.reverted ? limiter.charge(REVERTS, payer, 1) : Effect.void)),
          () => count(payer, -1)
        )
        return answer
      })
  }
})

const BUSY = FacilitatorAnswer.unknown("Other payments of this wallet are being settled.")
