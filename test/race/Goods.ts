import { setTimeout as sleep } from "node:timers/promises"
import {
  addMinutes,
  buyNumber,
  type CallSeconds,
  type Country,
  createMailbox,
  deleteMailbox,
  extendCall,
  placeCall,
  releaseNumber,
  renewNumber,
  sendMessage,
  updateMailbox
} from "../faults/client/Requests.ts"
import type { Wallet } from "../faults/client/Wallet.ts"
import { type Answer, dataOf, isSuccess } from "../faults/observation/Purchases.ts"
import type { ExpectedCall, OwnedNumber } from "../faults/verdict/ProviderInvariants.ts"
import type { MailboxFields, Request } from "../support/Agent.ts"
import type { Cluster } from "../support/Cluster.ts"
import { PhoneCarrier } from "../support/PhoneCarrier.ts"
import type { CallFields, Purchase } from "../support/PhoneCustomer.ts"
import type { Outcome, Round } from "./Round.ts"

/** Something to buy. */
export interface Good {
  readonly wallet: Wallet
  readonly request: Request
  /** Compares the result with the number of sales, and adds the expected records of the providers. */
  readonly check: (outcomes: ReadonlyArray<Outcome>) => Promise<void>
  /** The check also covers other purchases for the same number. */
  readonly coversOthers?: true
}

const MONTH_MILLIS = 30 * 24 * 60 * 60 * 1_000
const PURCHASED_SECONDS = 600
export const EXTENSION_SECONDS = 60
const POLL_MILLIS = 50
/** A call is answered, or has ended, by then. */
const CALL_MILLIS_MAX = 30_000

const winnersOf = (outcomes: ReadonlyArray<Outcome>): number => outcomes.filter(({ won }) => won).length

const firstSuccess = (outcomes: ReadonlyArray<Outcome>): Answer | undefined =>
  outcomes.flatMap(({ last }) => last).find(isSuccess)

/** The data of a purchase of a mailbox. */
export const mailboxBy = (answer: Answer) =>
  dataOf<{ readonly mailbox: MailboxFields; readonly authentication: { readonly accessToken: string } }>(answer)

/** The data of a purchase of a number. */
export const numberBy = (answer: Answer): Purchase => dataOf<Purchase>(answer)

/** A new mailbox, which its wallet must list exactly once if it was sold. */
export const mailbox = (round: Round, wallet: Wallet, localPart: string): Good => ({
  wallet,
  request: createMailbox(localPart),
  check: async (outcomes) => {
    const success = firstSuccess(outcomes)
    if (success === undefined) return
    wallet.token ??= mailboxBy(success).authentication.accessToken
    const found = (await wallet.mailboxes(round.server())).filter((one) => one.localPart === localPart)
    if (found.length !== 1) round.report(`${found.length} mailboxes are named ${localPart}`)
  }
})

export const message = (round: Round, wallet: Wallet): Good => {
  const recipient = `${round.name("message")}@elsewhere.test`
  if (wallet.mailbox === undefined) throw new Error(`${wallet.address} has no mailbox`)
  return {
    wallet,
    request: sendMessage(wallet.mailbox.mailboxId, recipient),
    check: async (outcomes) => round.expectMail(recipient, outcomes)
  }
}

/** A change of a mailbox. A lost change may have no effect. */
export const change = (round: Round, wallet: Wallet, mailboxId: string, kind: "update" | "delete"): Good => {
  const displayName = round.name("changed")
  return {
    wallet,
    request: kind === "update" ? updateMailbox(mailboxId, displayName) : deleteMailbox(mailboxId),
    check: async (outcomes) => {
      const left = (await wallet.mailboxes(round.server())).find((one) => one.mailboxId === mailboxId)
      const isDone = kind === "update" ? left?.displayName === displayName : left === undefined
      const hasWon = winnersOf(outcomes) > 0
      if (isDone !== hasWon) round.report(`${kind} was ${hasWon ? "" : "not "}sold, and it is ${JSON.stringify(left)}`)
    }
  }
}

export const numberOf = ({ address, phoneNumberId }: Wallet): string => {
  if (phoneNumberId === undefined) throw new Error(`${address} has no number`)
  return phoneNumberId
}

/** A call to a person who listens to one sentence and hangs up. */
export const call = (round: Round, wallet: Wallet, seconds: CallSeconds): Good => {
  const toNumber = PhoneCarrier.personNumber()
  return {
    wallet,
    request: placeCall(numberOf(wallet), toNumber, seconds),
    check: async (outcomes) => void round.expectCall(toNumber, winnersOf(outcomes) > 0, seconds)
  }
}

export const orderNumberOf = ({ phones }: Cluster, country: Country, areaCode?: string): Request =>
  buyNumber(country, { agentName: "Racer", agentWebhookUrl: phones.agentWebhookUrl, areaCode })

export const orderNumber = (round: Round, country: Country, areaCode?: string): Request =>
  orderNumberOf(round.setting.cluster, country, areaCode)

/** A number, which is released once it was checked. */
export const number = (round: Round, wallet: Wallet, country: Country, areaCode?: string): Good => ({
  wallet,
  request: orderNumber(round, country, areaCode),
  check: async (outcomes) => {
    for (const outcome of outcomes) {
      const success = firstSuccess([outcome])
      if (success === undefined) continue
      const bought = numberBy(success)
      const owned = round.expectNumber(bought.number)
      wallet.token = bought.authentication.accessToken
      const active = (await wallet.numbers(round.server())).filter(({ status }) => status === "active")
      const own = active.filter(({ phoneNumberId }) => phoneNumberId !== wallet.phoneNumberId)
      if (own.length !== 1 || own[0]!.number !== bought.number) {
        round.report(`${bought.number} was bought, and ${own.map((one) => one.number).join(", ")} is listed`)
      }
      await release(round, wallet, bought.phoneNumberId, owned)
    }
  }
})

export const release = async (round: Round, wallet: Wallet, id: string, owned: OwnedNumber): Promise<void> => {
  const reply = await wallet.on(round.server()).send(releaseNumber(id))
  if (reply.status === 200) owned.isKept = false
  else round.report(`a number was not released: ${reply.status} ${reply.text}`)
}

/** A call in progress. */
export interface LiveCall {
  readonly callId: string
  readonly toNumber: string
  readonly expected: ExpectedCall
}

/** Calls a person who stays on the line, and waits for the answer. */
export const callLong = async (
  round: Round,
  wallet: Wallet,
  seconds: CallSeconds,
  phoneNumberId: string = numberOf(wallet)
): Promise<LiveCall> => {
  const toNumber = await round.carrier.person({ seconds: 3_600 })
  const answer = await round.provide(wallet, placeCall(phoneNumberId, toNumber, seconds))
  const { callId } = dataOf<{ readonly call: CallFields }>(answer).call
  const expected = round.expectCall(toNumber, true, seconds)
  const deadline = performance.now() + CALL_MILLIS_MAX
  for (;;) {
    const found = await wallet.call(callId, round.server())
    if (found.status === "in_progress") return { callId, toNumber, expected }
    if (performance.now() > deadline) throw new Error(`after ${CALL_MILLIS_MAX} ms the call is ${found.status}`)
    await sleep(POLL_MILLIS)
  }
}

/** One more minute for a call in progress. */
export const extension = async (round: Round, wallet: Wallet, live?: LiveCall): Promise<Good> => {
  const { callId, expected } = live ?? (await callLong(round, wallet, 60))
  const before = expected.limitSeconds ?? 0
  return {
    wallet,
    request: extendCall(callId),
    check: async (outcomes) => {
      const wins = winnersOf(outcomes)
      expected.limitSeconds = before + EXTENSION_SECONDS * wins
      const { authorizedSeconds } = await wallet.call(callId, round.server())
      if (authorizedSeconds !== expected.limitSeconds) {
        round.report(`${wins} extensions of ${before} s resulted in ${authorizedSeconds} s`)
      }
    }
  }
}

/** Thirty more days, or ten more minutes, for a number. */
export const addition = async (round: Round, wallet: Wallet, what: "renewal" | "minutes"): Promise<Good> => {
  const phoneNumberId = numberOf(wallet)
  const before = await wallet.number(phoneNumberId, round.server())
  return {
    wallet,
    request: what === "renewal" ? renewNumber(phoneNumberId) : addMinutes(phoneNumberId),
    coversOthers: true,
    check: async (outcomes) => {
      const after = await wallet.number(phoneNumberId, round.server())
      const wins = winnersOf(outcomes)
      const millis = Date.parse(after.entitlement.expiresAt) - Date.parse(before.entitlement.expiresAt)
      const seconds = after.inboundAllowance.purchasedSeconds - before.inboundAllowance.purchasedSeconds
      const [expectedMillis, expectedSeconds] =
        what === "renewal" ? [wins * MONTH_MILLIS, 0] : [0, wins * PURCHASED_SECONDS]
      if (millis !== expectedMillis) round.report(`${wins} × ${what} moved the number's end by ${millis} ms`)
      if (seconds !== expectedSeconds) round.report(`${wins} × ${what} added ${seconds} s to the allowance`)
    }
  }
}

/** An email service in turn. */
export const emailGood = async (round: Round): Promise<Good> => {
  const [wallet] = round.setting.lane
  const kinds = [
    () => mailbox(round, wallet, round.name("mailbox")),
    () => message(round, wallet),
    () => mailbox(round, round.setting.fresh(), round.name("first"))
  ]
  return kinds[round.setting.number % kinds.length]!()
}

/** A phone service in turn. */
export const phoneGood = async (round: Round): Promise<Good> => {
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
