import { createHmac, randomUUID } from "node:crypto"
import { setTimeout as sleep } from "node:timers/promises"
import type { Play } from "../support/PhoneCarrier.ts"
import { type CallFields, dataOf, type EventFields } from "../support/PhoneCustomer.ts"
import { numberOf } from "./PhoneGoods.ts"
import { addMinutes, placeCall } from "./PhoneRequests.ts"
import type { Race } from "./Race.ts"
import type { Round } from "./Round.ts"
import type { Wallet } from "./Wallet.ts"

/** How often the carrier sends each report, the last of a call first. */
const DELIVERY = { copies: 3, order: "reversed" }
/** How often each report is sent besides, all at once and to every server. */
const COPIES = 2
/** Where the servers are told of calls that come in, and with a call's id of those that go out. */
const STATUS_PATH = "/webhooks/twilio/status"
/** All of a call is known by then. */
const TOLD_MILLIS = 15_000
const POLL_MILLIS = 50
const BEFORE_ANSWER = ["initiated", "ringing"]

/** What the carrier tells of calls comes repeatedly, in reverse, and to all servers at once: each call ends once, as it was. */
export const repeatedReports: Race = {
  name: "phone: reports repeated, in reverse and at once",
  freshWallets: 0,
  roundsPerPlay: 10,
  alone: true,
  play: async (round) => {
    const { wallets } = round.setting
    await deliver(round, DELIVERY)
    try {
      const kinds = [answered, busy, inbound]
      const rounds = Array.from({ length: repeatedReports.roundsPerPlay }, (_, index) => index)
      // Only one call to a number at a time, since what it was called for is told by its allowance.
      await Promise.all(
        wallets.map(async (wallet, lane) => {
          for (const index of rounds.filter((each) => each % wallets.length === lane)) {
            await kinds[(index + round.setting.number) % kinds.length]!(round, wallet)
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
  const reply = await round.provide(wallet, placeCall(numberOf(wallet), toNumber, 60))
  round.expectCall(toNumber, true, 60)
  const { callId } = dataOf<{ readonly call: CallFields }>(reply).call
  const play = await carrier.over((await carrier.playTo(toNumber)).id)
  await repeat(round, `${STATUS_PATH}/${callId}`, play)
  return { callId, play }
}

const inbound = async (round: Round, wallet: Wallet): Promise<void> => {
  const phoneNumberId = numberOf(wallet)
  await round.provide(wallet, addMinutes(phoneNumberId))
  const before = await wallet.number(round.server(), phoneNumberId)
  const id = await round.carrier.callIn(before.number, { seconds: 2 })
  const play = await round.carrier.over(id)
  await repeat(round, STATUS_PATH, play)
  const { usedSeconds } = before.inboundAllowance
  await expectSoon(round, async () => {
    const { inboundAllowance } = await wallet.number(round.server(), phoneNumberId)
    const used = inboundAllowance.usedSeconds - usedSeconds
    return used === play.seconds ? undefined : `a call of ${play.seconds} s was counted as ${used} s`
  })
}

/** Tells every server all of a call again, signed as the carrier signs, in any order and at once. */
const repeat = async (round: Round, path: string, play: Play): Promise<void> => {
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
      if (!response.ok) round.violation(`a report was answered ${response.status}: ${await response.text()}`)
    })
  )
}

/** The call is told as the carrier has it, and of each of its moments there is one event. */
const expectEnd = (
  round: Round,
  wallet: Wallet,
  callId: string,
  play: Play,
  endReason: string,
  types: ReadonlyArray<string>
): Promise<void> =>
  expectSoon(round, async () => {
    const call = await wallet.call(round.server(), callId)
    const fits =
      call.status === "ended" && call.endReason === endReason && call.connectedSeconds === (play.seconds ?? 0)
    if (!fits) return `a call of ${play.seconds} s that was ${play.status} is told as ${JSON.stringify(call)}`
    const listing = { path: "/api/v1/events/list", body: { resourceId: callId } }
    const { items } = dataOf<{ readonly items: ReadonlyArray<EventFields> }>(
      await wallet.on(round.server()).send(listing)
    )
    const told = items.map(({ type }) => type).toSorted()
    return told.join() === types.join() ? undefined : `of a call was told ${told.join()}, and not ${types.join()}`
  })

/** What is wrong is so no more within some seconds. */
const expectSoon = async (round: Round, look: () => Promise<string | undefined>): Promise<void> => {
  const deadline = performance.now() + TOLD_MILLIS
  for (;;) {
    const wrong = await look()
    if (wrong === undefined) return
    if (performance.now() > deadline) return round.violation(wrong)
    await sleep(POLL_MILLIS)
  }
}
