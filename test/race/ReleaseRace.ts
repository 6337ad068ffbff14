import { setTimeout as sleep } from "node:timers/promises"
import { extendCall, placeCall, releaseNumber } from "../faults/client/Requests.ts"
import type { Wallet } from "../faults/client/Wallet.ts"
import { transactionOf } from "../faults/observation/Chain.ts"
import type { Reply, Request } from "../support/Agent.ts"
import { CarrierLog } from "../support/CarrierLog.ts"
import { addition, callLong, EXTENSION_SECONDS, numberBy, numberOf, orderNumber } from "./Goods.ts"
import { expectLoss } from "./RequestRaces.ts"
import type { Outcome, Race, Round } from "./Round.ts"

const KINDS = ["call", "renewal", "minutes", "extension", "call"] as const
const RELEASES = 2
const COPIES = 3
/** In one of so many rounds, the releases leave within so many milliseconds of the payments. */
const EARLY_OF = 3
const EARLY_MILLIS = 200
/** In the others, within so many milliseconds of the charge. */
const LATE_MILLIS = 2_000
const ENDED_MILLIS_MAX = 15_000
const POLL_MILLIS = 100

interface Use {
  readonly request: Request
  readonly check: (outcome: Outcome) => void | Promise<void>
}

/** A purchase for a number that is released at the same time. */
const useFor = async (round: Round, wallet: Wallet, kind: (typeof KINDS)[number]): Promise<Use> => {
  switch (kind) {
    case "call": {
      const toNumber = await round.carrier.person({ seconds: 3_600 })
      return {
        request: placeCall(numberOf(wallet), toNumber, 300),
        check: ({ won }) => void round.expectCall(toNumber, won, 300)
      }
    }
    case "extension": {
      const { callId, expected, toNumber } = await callLong(round, wallet, 300)
      const before = expected.limitSeconds ?? 0
      return {
        request: extendCall(callId),
        // The call ends with the release, before or after the carrier received the longer limit.
        check: async ({ won }) => {
          const calls = await new CarrierLog(round.setting.cluster.phones.carrier.url).calls()
          const limit = calls.find(({ to }) => to === toNumber)?.timeLimitSeconds
          if (won && limit === before + EXTENSION_SECONDS) expected.limitSeconds = limit
        }
      }
    }
    default:
      return { request: (await addition(round, wallet, kind)).request, check: () => undefined }
  }
}

/** A number is released while something is bought for it. The purchase is delivered or refunded, and no call goes on. */
export const releasedMeanwhile: Race = {
  name: "phone: a number that is released meanwhile",
  freshWallets: 1,
  roundsPerPlay: 1,
  isAlone: false,
  // Refunds take a while.
  lanes: 10,
  play: async (round) => {
    const { cluster, fresh, number: play } = round.setting
    const wallet = fresh()
    const { authentication, number, phoneNumberId } = numberBy(await round.provide(wallet, orderNumber(round, "US")))
    wallet.token = authentication.accessToken
    wallet.phoneNumberId = phoneNumberId
    const owned = round.expectNumber(number)
    const { check, request } = await useFor(round, wallet, KINDS[play % KINDS.length]!)
    const contender = await round.contender(wallet, request)
    const isEarly = round.random.integer(EARLY_OF) === 0
    const started = isEarly ? Promise.resolve() : transactionOf(cluster, contender.payment.authorization.nonce)
    const releasing = Array.from({ length: RELEASES }, () =>
      started.then(() => releaseSoon(round, wallet, isEarly ? EARLY_MILLIS : LATE_MILLIS))
    )
    const [[outcome], releases] = await Promise.all([round.run([contender], COPIES), Promise.all(releasing)])
    const isReleased = releases.some(({ status }) => status === 200)
    owned.isKept = !isReleased
    if (!isReleased || releases.some(({ body, status }) => status !== 200 && body.error.code !== "NUMBER_RELEASED")) {
      round.report(`the release was answered ${releases.map(({ status, text }) => `${status} ${text}`).join(" | ")}`)
    }
    expectLoss(round, outcome!, "NUMBER_RELEASED", "CONFLICT")
    await check(outcome!)
    await expectNoCall(round, number)
  }
}

/** Repeats the release until the carrier has confirmed it. */
const releaseSoon = async (round: Round, wallet: Wallet, withinMillis: number): Promise<Reply> => {
  await sleep(round.random.integer(withinMillis))
  const server = round.server()
  for (;;) {
    const reply = await wallet.on(server).send(releaseNumber(numberOf(wallet)))
    if (reply.body.error?.code !== "PROVIDER_TEMPORARY_FAILURE") return reply
    await sleep(POLL_MILLIS)
  }
}

const expectNoCall = async (round: Round, number: string): Promise<void> => {
  const log = new CarrierLog(round.setting.cluster.phones.carrier.url)
  const deadline = performance.now() + ENDED_MILLIS_MAX
  for (;;) {
    const live = (await log.calls()).filter(
      ({ from, state }) => from === number && (state === "ringing" || state === "in-progress")
    )
    if (live.length === 0) return
    if (performance.now() > deadline) {
      return round.report(`${number} was released, and still calls ${live.map(({ to }) => to).join(", ")}`)
    }
    await sleep(POLL_MILLIS)
  }
}
