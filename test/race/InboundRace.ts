import { setTimeout as sleep } from "node:timers/promises"
import { addMinutes } from "../faults/client/Requests.ts"
import type { Wallet } from "../faults/client/Wallet.ts"
import type { Play } from "../support/PhoneCarrier.ts"
import { numberBy, orderNumber } from "./Goods.ts"
import type { Race, Round } from "./Round.ts"

/** Of one purchase of minutes. */
const SECONDS = 600
/**
 * Calls pass this much faster. A limit reaches the carrier within 2 s, which are 30 s of a call. On a busy machine it may
 * take 13 s: only then has the first of three calls used more than its share.
 */
const SPEED = 15
/** Longer than any call may last. */
const STAY_SECONDS = 3_600
const CALLERS_MAX = 3
/** Seconds that may remain unused because shares are whole seconds. */
const UNUSED_MAX = 2 * CALLERS_MAX
const SPREAD_MILLIS = 1_000
/** A call that uses the whole allowance alone takes 40 s. */
const OVER_WITHIN_MILLIS = 60_000
const COUNTED_MILLIS_MAX = 15_000
const POLL_MILLIS = 50

/** Several people call each number at once. They use exactly the bought seconds, and the next call is declined. */
export const sharedAllowance: Race = {
  name: "phone: several calls in, one allowance",
  freshWallets: 1,
  roundsPerPlay: 10,
  isAlone: true,
  play: async (round) => {
    const callees = await buyNumbers(round)
    await round.carrier.speed(SPEED)
    try {
      await Promise.all(callees.map((callee) => callAll(round, callee)))
    } finally {
      await round.carrier.speed(1)
    }
  }
}

interface Callee {
  readonly wallet: Wallet
  readonly number: string
  readonly phoneNumberId: string
}

/** Numbers with ten minutes each. */
const buyNumbers = async (round: Round): Promise<ReadonlyArray<Callee>> => {
  const wallet = round.setting.fresh()
  const buy = async (): Promise<Callee> => {
    const { authentication, number, phoneNumberId } = numberBy(await round.provide(wallet, orderNumber(round, "US")))
    wallet.token = authentication.accessToken
    await round.provide(wallet, addMinutes(phoneNumberId))
    round.expectNumber(number)
    round.setting.record.allowances.push({ subject: round.subject, number, purchasedSeconds: SECONDS })
    return { wallet, number, phoneNumberId }
  }
  const first = await buy()
  return [first, ...(await Promise.all(Array.from({ length: sharedAllowance.roundsPerPlay - 1 }, buy)))]
}

/**
 * Returns the carrier's seconds of all calls, of each at most those that were authorized: a limit that reaches the
 * carrier late, by its fast clock, lets a call last longer.
 */
const billableSeconds = async (
  round: Round,
  wallet: Wallet,
  phoneNumberId: string,
  plays: ReadonlyArray<Play>
): Promise<number> => {
  const calls = await wallet.callsOf(phoneNumberId, round.server())
  const authorized = new Map(calls.map(({ authorizedSeconds, fromNumber }) => [fromNumber, authorizedSeconds]))
  return plays.reduce((sum, { from, seconds }) => sum + Math.min(seconds ?? 0, authorized.get(from) ?? 0), 0)
}

const callAll = async (round: Round, { number, phoneNumberId, wallet }: Callee): Promise<void> => {
  const { carrier, random } = round
  const call = async (afterMillis: number): Promise<Play> => {
    await sleep(afterMillis)
    return carrier.over(await carrier.callIn(number, { seconds: STAY_SECONDS }), OVER_WITHIN_MILLIS)
  }
  const spread = random.pick([1, SPREAD_MILLIS])
  const callers = 2 + random.integer(CALLERS_MAX - 1)
  const plays = await Promise.all(Array.from({ length: callers }, () => call(random.integer(spread))))
  const seconds = plays.map((play) => play.seconds ?? 0)
  const used = seconds.reduce((sum, each) => sum + each, 0)
  if (used < SECONDS - UNUSED_MAX) {
    const ends = plays.map((play) => `${play.seconds ?? 0} s (${play.status}: ${play.reason})`)
    round.report(`${number} took ${ends.join(" + ")}, not ${SECONDS} s`)
  }
  // The rest is known once the ends of all calls were reported.
  const deadline = performance.now() + COUNTED_MILLIS_MAX
  let usedSeconds: number
  for (;;) {
    usedSeconds = (await wallet.number(phoneNumberId, round.server())).inboundAllowance.usedSeconds
    const billable = await billableSeconds(round, wallet, phoneNumberId, plays)
    if (usedSeconds === billable) break
    if (performance.now() > deadline) {
      return round.report(`${number} took ${billable} s within its limits, and ${usedSeconds} s are counted`)
    }
    await sleep(POLL_MILLIS)
  }
  // On a busy machine, a call may have lasted longer than its authorized seconds, and seconds be left all the same.
  if (usedSeconds < SECONDS) return
  const late = await call(0)
  if (late.state !== "rejected") round.report(`${number} accepted a call without seconds left`)
}
