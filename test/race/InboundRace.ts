import { setTimeout as sleep } from "node:timers/promises"
import type { Play } from "../support/PhoneCarrier.ts"
import { addMinutes, boughtBy, buyNumber } from "./PhoneRequests.ts"
import type { Race } from "./Race.ts"
import type { Round } from "./Round.ts"
import type { Wallet } from "./Wallet.ts"

/** What one purchase of minutes brings. */
const SECONDS = 600
/** Calls pass so much faster: what is left of an allowance is told the carrier within 2 s, which are 60 of a call. */
const SPEED = 30
/** Who calls stays longer than anybody may. */
const STAY_SECONDS = 3_600
/** Of each number, at once. */
const CALLERS_MOST = 3
/** Seconds that a share out of whole ones may leave unused. */
const UNUSED_MOST = 2 * CALLERS_MOST
/** Within which they call, where they do not at once. */
const SPREAD_MILLIS = 1_000
const TOLD_MILLIS = 15_000
const POLL_MILLIS = 50

/** Several people call each of some numbers at once: together they talk for as long as was bought, and the next is declined. */
export const sharedAllowance: Race = {
  name: "phone: several calls in, one allowance",
  freshWallets: 1,
  roundsPerPlay: 10,
  alone: true,
  play: async (round) => {
    const numbers = await buyNumbers(round)
    await round.carrier.speed(SPEED)
    try {
      await Promise.all(numbers.map((number) => callAll(round, number)))
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
  const { book, cluster, number: play, race } = round.setting
  const wallet = round.setting.fresh()
  const buy = async (): Promise<Callee> => {
    const { authentication, number, phoneNumberId } = boughtBy(await round.provide(wallet, buyNumber(cluster, "US")))
    wallet.token = authentication.accessToken
    await round.provide(wallet, addMinutes(phoneNumberId))
    round.expectNumber(number)
    book.allowances.push({ race, round: play, number, purchasedSeconds: SECONDS })
    return { wallet, number, phoneNumberId }
  }
  const first = await buy()
  return [first, ...(await Promise.all(Array.from({ length: sharedAllowance.roundsPerPlay - 1 }, buy)))]
}

const callAll = async (round: Round, callee: Callee): Promise<void> => {
  const { carrier, random } = round
  const { number } = callee
  const callers = 2 + random.integer(CALLERS_MOST - 1)
  const call = async (afterMillis: number): Promise<Play> => {
    await sleep(afterMillis)
    return carrier.over(await carrier.callIn(number, { seconds: STAY_SECONDS }))
  }
  const spread = random.pick([1, SPREAD_MILLIS])
  const plays = await Promise.all(Array.from({ length: callers }, () => call(random.integer(spread))))
  const seconds = plays.map((play) => play.seconds ?? 0)
  const used = seconds.reduce((sum, each) => sum + each, 0)
  if (used < SECONDS - UNUSED_MOST)
    round.violation(`${number} was called for ${seconds.join(" + ")} s, and not ${SECONDS}`)
  // What is left is known once the ends of all calls have been told.
  await untilUsed(round, callee, used)
  if (used < SECONDS) return
  const late = await call(0)
  if (late.state !== "rejected") round.violation(`${number} took a call with nothing left`)
}

const untilUsed = async (round: Round, { number, phoneNumberId, wallet }: Callee, used: number): Promise<void> => {
  const deadline = performance.now() + TOLD_MILLIS
  for (;;) {
    const { inboundAllowance } = await wallet.number(round.server(), phoneNumberId)
    if (inboundAllowance.usedSeconds === used) return
    if (performance.now() > deadline) {
      return round.violation(`${number} was called for ${used} s, and ${inboundAllowance.usedSeconds} s are counted`)
    }
    await sleep(POLL_MILLIS)
  }
}
