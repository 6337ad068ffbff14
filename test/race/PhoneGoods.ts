import { setTimeout as sleep } from "node:timers/promises"
import type { Request } from "../support/Agent.ts"
import { PhoneCarrier } from "../support/PhoneCarrier.ts"
import { type CallFields, dataOf } from "../support/PhoneCustomer.ts"
import type { ExpectedCall, SoldNumber } from "./Book.ts"
import {
  addMinutes,
  boughtBy,
  buyNumber,
  type CallSeconds,
  type Country,
  extendCall,
  placeCall,
  releaseNumber,
  renewNumber
} from "./PhoneRequests.ts"
import { isSuccess, type Outcome, type Round } from "./Round.ts"
import type { Wallet } from "./Wallet.ts"

/** Something that telephones offer for money. */
export interface Good {
  readonly wallet: Wallet
  readonly request: Request
  /** Looks whether it came about as often as it was sold, and has the carrier's part of it on the books. */
  readonly expect: (outcomes: ReadonlyArray<Outcome>) => Promise<void>
}

const MONTH_MILLIS = 30 * 24 * 60 * 60 * 1_000
const PURCHASED_SECONDS = 600
export const EXTENSION_SECONDS = 60

const POLL_MILLIS = 50
/** A call is answered, or has ended, by then, however busy the machine is. */
const CALL_MILLIS = 30_000

const winners = (outcomes: ReadonlyArray<Outcome>): number => outcomes.filter(({ won }) => won).length

/** The number that a known wallet keeps. */
export const numberOf = ({ address, phoneNumberId }: Wallet): string => {
  if (phoneNumberId === undefined) throw new Error(`${address} has no number`)
  return phoneNumberId
}

/** A call to somebody who listens to one thing and hangs up. */
export const call = async (round: Round, wallet: Wallet, seconds: CallSeconds): Promise<Good> => {
  const toNumber = PhoneCarrier.personNumber()
  return {
    wallet,
    request: placeCall(numberOf(wallet), toNumber, seconds),
    expect: async (outcomes) => void round.expectCall(toNumber, winners(outcomes) > 0, seconds)
  }
}

/** A number, which goes back when it has been looked at. */
export const number = async (round: Round, wallet: Wallet, country: Country, areaCode?: string): Promise<Good> => ({
  wallet,
  request: buyNumber(round.setting.cluster, country, areaCode),
  expect: async (outcomes) => {
    for (const { last, won } of outcomes) if (won) await giveBack(round, wallet, last)
  }
})

const giveBack = async (round: Round, wallet: Wallet, last: Outcome["last"]): Promise<void> => {
  const success = last.find(isSuccess)
  if (success === undefined) return
  const bought = boughtBy(success)
  const sold = round.expectNumber(bought.number)
  wallet.token = bought.authentication.accessToken
  const listed = (await wallet.numbers(round.server())).filter(({ status }) => status === "active")
  const own = listed.filter(({ phoneNumberId }) => phoneNumberId !== wallet.phoneNumberId)
  if (own.length !== 1 || own[0]!.number !== bought.number) {
    round.violation(`${bought.number} was bought, and listed are ${own.map((one) => one.number).join(", ")}`)
  }
  await release(round, wallet, bought.phoneNumberId, sold)
}

/** Gives a number back, and comes back until the carrier has it. */
export const release = async (round: Round, wallet: Wallet, phoneNumberId: string, sold: SoldNumber): Promise<void> => {
  const reply = await wallet.on(round.server()).send(releaseNumber(phoneNumberId))
  if (!isSuccess(reply)) return round.violation(`a number was not given back: ${reply.status} ${reply.text}`)
  sold.kept = false
}

/** A call that goes on until its time is over. */
export interface LiveCall {
  readonly callId: string
  readonly toNumber: string
  readonly expected: ExpectedCall
}

/** Calls somebody who stays on the line, and waits for the answer. */
export const callLong = async (
  round: Round,
  wallet: Wallet,
  seconds: CallSeconds,
  phoneNumberId: string = numberOf(wallet)
): Promise<LiveCall> => {
  const toNumber = await round.carrier.person({ seconds: 3_600 })
  const reply = await round.provide(wallet, placeCall(phoneNumberId, toNumber, seconds))
  const { callId } = dataOf<{ readonly call: CallFields }>(reply).call
  const expected = round.expectCall(toNumber, true, seconds)
  await untilCall(round, wallet, callId, ({ status }) => status === "in_progress")
  return { callId, toNumber, expected }
}

/** Waits until a call is as wanted, by a server's word. */
export const untilCall = async (
  round: Round,
  wallet: Wallet,
  callId: string,
  isWanted: (call: CallFields) => boolean
): Promise<CallFields> => {
  const deadline = performance.now() + CALL_MILLIS
  for (;;) {
    const found = await wallet.call(round.server(), callId)
    if (isWanted(found)) return found
    if (performance.now() > deadline) throw new Error(`after ${CALL_MILLIS} ms the call is ${JSON.stringify(found)}`)
    await sleep(POLL_MILLIS)
  }
}

/** One minute more for a call that goes on. Others may have been bought for it, each of which is looked at here. */
export const extension = async (round: Round, wallet: Wallet, live?: LiveCall): Promise<Good> => {
  const { callId, expected } = live ?? (await callLong(round, wallet, 60))
  const before = expected.limitSeconds
  return {
    wallet,
    request: extendCall(callId),
    expect: async (outcomes) => {
      expected.limitSeconds = before + EXTENSION_SECONDS * winners(outcomes)
      const { authorizedSeconds } = await wallet.call(round.server(), callId)
      if (authorizedSeconds !== expected.limitSeconds) {
        round.violation(`${winners(outcomes)} extensions of ${before} s came to ${authorizedSeconds} s`)
      }
    }
  }
}

/** Thirty days, or ten minutes, more for a number. */
export const addition = async (round: Round, wallet: Wallet, what: "renewal" | "minutes"): Promise<Good> => {
  const phoneNumberId = numberOf(wallet)
  const before = await wallet.number(round.server(), phoneNumberId)
  return {
    wallet,
    request: what === "renewal" ? renewNumber(phoneNumberId) : addMinutes(phoneNumberId),
    expect: async (outcomes) => {
      const after = await wallet.number(round.server(), phoneNumberId)
      const wins = winners(outcomes)
      const millis = Date.parse(after.entitlement.expiresAt) - Date.parse(before.entitlement.expiresAt)
      const seconds = after.inboundAllowance.purchasedSeconds - before.inboundAllowance.purchasedSeconds
      const [wantedMillis, wantedSeconds] =
        what === "renewal" ? [wins * MONTH_MILLIS, 0] : [0, wins * PURCHASED_SECONDS]
      if (millis !== wantedMillis) round.violation(`${wins} × ${what} moved the number's end by ${millis} ms`)
      if (seconds !== wantedSeconds) round.violation(`${wins} × ${what} added ${seconds} s to the allowance`)
    }
  }
}

/** One of all kinds, in turn. */
export const anyGood = async (round: Round): Promise<Good> => {
  const [wallet] = round.setting.lane
  const kinds = [
    () => call(round, wallet, round.random.pick([60, 300])),
    () => number(round, round.setting.fresh(), round.random.pick(["US", "CA"])),
    () => extension(round, wallet),
    () => addition(round, wallet, "renewal"),
    () => addition(round, wallet, "minutes")
  ]
  return kinds[round.setting.number % kinds.length]!()
}
