import { createHmac, randomUUID } from "node:crypto"
import { setTimeout as sleep } from "node:timers/promises"
import { addMinutes, placeCall } from "../faults/client/Requests.ts"
import type { Wallet } from "../faults/client/Wallet.ts"
import { dataOf } from "../faults/observation/Purchases.ts"
import type { Play } from "../support/PhoneCarrier.ts"
import { type CallFields, dataOf as dataOfReply, type EventFields } from "../support/PhoneCustomer.ts"
import { numberOf } from "./Goods.ts"
import type { Race, Round } from "./Round.ts"

/** The carrier sends each report this often, the last of a call first. */
const DELIVERY = { copies: 3, order: "reversed" }
/** Each report is also sent to every server this often. */
const COPIES = 2
/** Of inbound calls; outbound calls add their id. */
const STATUS_PATH = "/webhooks/twilio/status"
const KNOWN_MILLIS_MAX = 15_000
const POLL_MILLIS = 50
const BEFORE_ANSWER = ["initiated", "ringing"]

/** The carrier's reports arrive repeatedly, in reverse, and at all servers at once. Each call ends once, as it was. */
export const repeatedReports: Race = {
  name: "phone: reports repeated, in reverse and at once",
  freshWallets: 0,
  roundsPerPlay: 10,
  isAlone: true,
  play: async (round) => {
    const { number, wallets } = round.setting
    await deliver(round, DELIVERY)
    try {
      const kinds = [answered, busy, inbound]
      const rounds = Array.from({ length: repeatedReports.roundsPerPlay }, (_, index) => index)
      // One call to a number at a time, because its allowance shows how long the call was.
      await Promise.all(
        wallets.map(async (wallet, lane) => {
          for (const index of rounds.filter((each) => each % wallets.length === lane)) {
            await kinds[(index + number) % kinds.length]!(round, wallet)
          }
        })
      )
    } finally {
      await deliver(round, { copies: 1, order: "usual" })
    }
  }
}

const deliver = async (round: Round, body: object): Promise<void> => {
  const response = await fetch(`${round.setting.cluster.phones.carrier.url}/sandbox/callbacks`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body)
  })
  if (!response.ok) throw new Error(`the carrier answered ${response.status}: ${await response.text()}`)
}

const answered = async (round: Round, wallet: Wallet): Promise<void> => {
  const { callId, play } = await callOut(round, wallet, { seconds: 1 })
  await expectEnd(round, wallet, callId, play, "completed", ["phone.call.ended", "phone.call.started"])
}

const busy = async (round: Round, wallet: Wallet): Promise<void> => {
  const { callId, play } = await callOut(round, wallet, { behaviour: "busy" })
  await expectEnd(round, wallet, callId, play, "busy", ["phone.call.ended"])
}

const callOut = async (
  round: Round,
  wallet: Wallet,
  behaviour: { readonly behaviour?: "busy"; readonly seconds?: number }
) => {
  const { carrier } = round
  const toNumber = await carrier.person(behaviour)
  const answer = await round.provide(wallet, placeCall(numberOf(wallet), toNumber, 60))
  round.expectCall(toNumber, true, 60)
  const { callId } = dataOf<{ readonly call: CallFields }>(answer).call
  const play = await carrier.over((await carrier.playTo(toNumber)).id)
  await repeatReports(round, `${STATUS_PATH}/${callId}`, play)
  return { callId, play }
}

const inbound = async (round: Round, wallet: Wallet): Promise<void> => {
  const phoneNumberId = numberOf(wallet)
  await round.provide(wallet, addMinutes(phoneNumberId))
  const before = await wallet.number(phoneNumberId, round.server())
  const id = await round.carrier.callIn(before.number, { seconds: 2 })
  const play = await round.carrier.over(id)
  await repeatReports(round, STATUS_PATH, play)
  await expectSoon(round, async () => {
    const { inboundAllowance } = await wallet.number(phoneNumberId, round.server())
    const used = inboundAllowance.usedSeconds - before.inboundAllowance.usedSeconds
    return used === play.seconds ? undefined : `a call of ${play.seconds} s was counted as ${used} s`
  })
}

/** Sends every report of a call to every server again, signed as the carrier signs, in any order and at once. */
const repeatReports = async (round: Round, path: string, play: Play): Promise<void> => {
  const { account, publicUrl } = round.setting.cluster.phones
  const ending = { CallStatus: play.status, CallDuration: String(play.seconds ?? 0) }
  const before = play.seconds === null ? BEFORE_ANSWER : [...BEFORE_ANSWER, "in-progress"]
  const reports = [...before.map((CallStatus) => ({ CallStatus })), ending].map((report) => ({
    CallSid: play.id,
    ...report
  }))
  const sends = round.setting.cluster.servers.flatMap(({ baseUrl }) =>
    reports.flatMap((report) => Array.from({ length: COPIES }, () => ({ baseUrl, report })))
  )
  await Promise.all(
    round.random.shuffle(sends).map(async ({ baseUrl, report }) => {
      const signed = Object.entries<string>(report)
        .toSorted(([a], [b]) => (a < b ? -1 : 1))
        .flat()
        .join("")
      const response = await fetch(`${baseUrl}${path}`, {
        method: "POST",
        headers: {
          "i-twilio-idempotency-token": randomUUID(),
          "x-twilio-signature": createHmac("sha1", account.authToken)
            .update(`${publicUrl}${path}${signed}`)
            .digest("base64")
        },
        body: new URLSearchParams(report)
      })
      if (!response.ok) round.report(`a report was answered ${response.status}: ${await response.text()}`)
    })
  )
}

/** The call is shown as the carrier has it, and there is one event of each change. */
const expectEnd = (
  round: Round,
  wallet: Wallet,
  callId: string,
  play: Play,
  endReason: string,
  types: ReadonlyArray<string>
): Promise<void> =>
  expectSoon(round, async () => {
    const call = await wallet.call(callId, round.server())
    const fits =
      call.status === "ended" && call.endReason === endReason && call.connectedSeconds === (play.seconds ?? 0)
    if (!fits) return `a call of ${play.seconds} s that was ${play.status} is shown as ${JSON.stringify(call)}`
    const listing = { path: "/api/v1/events/list", body: { resourceId: callId } }
    const { items } = dataOfReply<{ readonly items: ReadonlyArray<EventFields> }>(
      await wallet.on(round.server()).send(listing)
    )
    const found = items.map(({ type }) => type).toSorted()
    return found.join() === types.join() ? undefined : `a call has the events ${found.join()}, not ${types.join()}`
  })

/** Reports a problem if it still exists after some seconds. */
const expectSoon = async (round: Round, findProblem: () => Promise<string | undefined>): Promise<void> => {
  const deadline = performance.now() + KNOWN_MILLIS_MAX
  for (;;) {
    const problem = await findProblem()
    if (problem === undefined) return
    if (performance.now() > deadline) return round.report(problem)
    await sleep(POLL_MILLIS)
  }
}
