import { setTimeout as sleep } from "node:timers/promises"
import type { Reply, Request } from "../support/Agent.ts"
import { CarrierLog } from "../support/CarrierLog.ts"
import { transactionOf } from "./ChainLog.ts"
import { addition, callLong } from "./PhoneGoods.ts"
import { boughtBy, buyNumber, extendCall, placeCall, releaseNumber } from "./PhoneRequests.ts"
import type { Race } from "./Race.ts"
import { codeOf, isSuccess, type Outcome, type Round } from "./Round.ts"
import type { Wallet } from "./Wallet.ts"

const KINDS = ["call", "renewal", "minutes", "extension", "call"] as const
const RELEASES = 2
const COPIES = 3
/** Copies of the release leave so soon after the payments leave, in one of so many rounds. */
const EARLY_MILLIS = 200
const EARLY_OF = 3
/** In the others, so soon after the chain has the payment; what was paid for takes longer on a busy machine. */
const LATE_MILLIS = 2_000
/** A call that the number had is over by then. */
const ENDED_MILLIS = 15_000
const POLL_MILLIS = 100

interface Meant {
  readonly request: Request
  readonly expect: (outcome: Outcome) => void | Promise<void>
}

/** What is bought for a number that is given back meanwhile. */
const meantFor = async (round: Round, wallet: Wallet, kind: (typeof KINDS)[number]): Promise<Meant> => {
  const phoneNumberId = wallet.phoneNumberId!
  switch (kind) {
    case "call": {
      const toNumber = await round.carrier.person({ seconds: 3_600 })
      return {
        request: placeCall(phoneNumberId, toNumber, 300),
        expect: ({ won }) => void round.expectCall(toNumber, won, 300)
      }
    }
    case "extension": {
      const { callId, expected } = await callLong(round, wallet, 300)
      return {
        request: extendCall(callId),
        // The call has ended meanwhile: the last that the carrier was told of it may be either.
        expect: async ({ won }) => {
          if (won) expected.limitSeconds += await limitOver(round, expected.toNumber, expected.limitSeconds)
        }
      }
    }
    default:
      return { request: (await addition(round, wallet, kind)).request, expect: () => undefined }
  }
}

/** What the carrier was told beyond a limit: a minute, or nothing where the call was over before. */
const limitOver = async (round: Round, toNumber: string, limit: number): Promise<number> => {
  const found = (await new CarrierLog(round.setting.cluster.phones.carrier.url).calls()).find(
    ({ to }) => to === toNumber
  )
  return found?.timeLimitSeconds === limit + 60 ? 60 : 0
}

/** A number is given back while something is paid for it: that is done, or the money is, and nothing goes on afterwards. */
export const releasedMeanwhile: Race = {
  name: "phone: a number that is given back meanwhile",
  freshWallets: 1,
  roundsPerPlay: 1,
  alone: false,
  // Refunds are waited for.
  lanes: 10,
  play: async (round) => {
    const wallet = round.setting.fresh()
    const reply = await round.provide(wallet, buyNumber(round.setting.cluster, "US"))
    const { authentication, number, phoneNumberId } = boughtBy(reply)
    wallet.token = authentication.accessToken
    wallet.phoneNumberId = phoneNumberId
    const sold = round.expectNumber(number)
    const { expect, request } = await meantFor(round, wallet, KINDS[round.setting.number % KINDS.length]!)
    const contender = await round.contender(wallet, request)
    const isEarly = round.random.integer(EARLY_OF) === 0
    const begun = isEarly ? Promise.resolve() : transactionOf(round.setting.cluster, contender.stake.offer.nonce)
    const [[outcome], releases] = await Promise.all([
      round.run([contender], COPIES),
      Promise.all(
        Array.from({ length: RELEASES }, () =>
          begun.then(() => giveBack(round, wallet, phoneNumberId, isEarly ? EARLY_MILLIS : LATE_MILLIS))
        )
      )
    ])
    const released = releases.filter(isSuccess)
    sold.kept = released.length === 0
    const odd = releases.find((each) => !isSuccess(each) && codeOf(each) !== "NUMBER_RELEASED")
    if (released.length === 0 || odd !== undefined) {
      round.violation(`giving back was answered ${releases.map(({ status, text }) => `${status} ${text}`).join(" | ")}`)
    }
    expectTold(round, outcome!)
    await expect(outcome!)
    await expectQuiet(round, number)
  }
}

/** Comes back until the carrier has it. */
const giveBack = async (round: Round, wallet: Wallet, phoneNumberId: string, withinMillis: number): Promise<Reply> => {
  await sleep(round.random.integer(withinMillis))
  const server = round.server()
  for (;;) {
    const reply = await wallet.on(server).send(releaseNumber(phoneNumberId))
    if (codeOf(reply) !== "PROVIDER_TEMPORARY_FAILURE") return reply
    await sleep(POLL_MILLIS)
  }
}

/** Who got nothing was told before it was charged that the number is no more, or that it gets its money back. */
const expectTold = (round: Round, { contender, last, won }: Outcome): void => {
  const expected = contender.stake.returned ? ["PROVIDER_REJECTED"] : ["NUMBER_RELEASED", "CONFLICT"]
  const other = last.find((reply) => !expected.includes(codeOf(reply)))
  if (!won && other !== undefined) round.violation(`who came too late was told ${other.status} ${other.text}`)
}

/** No call of a number that was given back goes on. */
const expectQuiet = async (round: Round, number: string): Promise<void> => {
  const log = new CarrierLog(round.setting.cluster.phones.carrier.url)
  const deadline = performance.now() + ENDED_MILLIS
  for (;;) {
    const live = (await log.calls()).filter(
      ({ from, state }) => from === number && (state === "ringing" || state === "in-progress")
    )
    if (live.length === 0) return
    if (performance.now() > deadline) {
      return round.violation(`${number} was given back, and calls ${live.map(({ to }) => to).join(", ")}`)
    }
    await sleep(POLL_MILLIS)
  }
}
