import type { TimedCall } from "../../support/CarrierLog.ts"
import type { Finding, Invariant, Subject } from "./Judge.ts"

/** A number that a wallet was told is its own, until it released it. */
export interface OwnedNumber {
  readonly subject: Subject
  readonly number: string
  isKept: boolean
}

/** A person called for one purchase alone. */
export interface ExpectedCall {
  readonly subject: Subject
  readonly toNumber: string
  /** Whether the call was sold; undefined if only its purchase is judged. */
  isSold?: boolean
  /** Paid seconds, if the carrier must have exactly these. */
  limitSeconds?: number
}

/** The inbound seconds that were bought for a number. */
export interface Allowance {
  readonly subject: Subject
  readonly number: string
  readonly purchasedSeconds: number
}

/** A mail of a paid send to a recipient that nothing else writes to. */
export interface ExpectedMail {
  readonly subject: Subject
  readonly recipient: string
  readonly isSent: boolean
  /** Whether an interrupted attempt may have left another copy under the same Message-ID. */
  readonly mayRepeat: boolean
}

/** The records of carrier and mail relay, and the expectations of clients. */
export interface ProviderObservations {
  readonly calls: ReadonlyArray<TimedCall>
  /** How often each number was sold, where that was counted. */
  readonly sales?: ReadonlyMap<string, number>
  /** Numbers that are sold and not released. */
  readonly held: ReadonlySet<string>
  /** The Message-IDs of the copies that each recipient received. */
  readonly mails: ReadonlyMap<string, ReadonlyArray<string | null>>
  readonly owned: ReadonlyArray<OwnedNumber>
  readonly expectedCalls: ReadonlyArray<ExpectedCall>
  readonly allowances: ReadonlyArray<Allowance>
  readonly expectedMails: ReadonlyArray<ExpectedMail>
}

type ProviderInvariant = Invariant<ProviderObservations>

const numbersHaveOneOwner: ProviderInvariant = function* ({ held, owned, sales }) {
  const claims = Map.groupBy(owned, ({ number }) => number)
  for (const [number, owners] of claims) {
    const { subject } = owners.at(-1)!
    const keepers = owners.filter(({ isKept }) => isKept).length
    const finding = (text: string): Finding => ({ subject, text: `${number} ${text}` })
    const sold = sales?.get(number) ?? 0
    if (sales !== undefined && sold !== owners.length) {
      yield finding(`has had ${owners.length} owners, and was sold ${sold} times`)
    }
    if (keepers > 1) yield finding(`has ${keepers} owners`)
    if (keepers > 0 && !held.has(number)) yield finding("has an owner, and is not sold")
    if (keepers === 0 && held.has(number)) yield finding("was released, and is still sold")
  }
  for (const number of new Set([...(sales?.keys() ?? []), ...held])) {
    if (!claims.has(number)) yield `${number} is sold, and has no owner`
  }
}

const outbound = (calls: ReadonlyArray<TimedCall>): ReadonlyMap<string, ReadonlyArray<TimedCall>> =>
  Map.groupBy(
    calls.filter(({ direction }) => direction === "outbound-api"),
    ({ to }) => to
  )

const soldCallsAreDialedOnce: ProviderInvariant = function* ({ calls, expectedCalls }) {
  const dialed = outbound(calls)
  const expected = new Set(expectedCalls.map(({ toNumber }) => toNumber))
  for (const { isSold, subject, toNumber } of expectedCalls) {
    const count = dialed.get(toNumber)?.length ?? 0
    if (isSold === true && count !== 1) yield { subject, text: `${toNumber} was dialed ${count} times, not once` }
    if (isSold === false && count > 0) yield { subject, text: `${toNumber} was dialed ${count} times, not sold` }
  }
  for (const [toNumber, { length }] of dialed) {
    if (!expected.has(toNumber)) yield `${toNumber} was dialed ${length} times, and no client asked for it`
  }
}

const callsHaveTheirLimit: ProviderInvariant = function* ({ calls, expectedCalls }) {
  const dialed = outbound(calls)
  for (const { limitSeconds, subject, toNumber } of expectedCalls) {
    for (const { timeLimitSeconds } of dialed.get(toNumber) ?? []) {
      if (limitSeconds !== undefined && timeLimitSeconds !== limitSeconds) {
        yield { subject, text: `${toNumber} was called for ${timeLimitSeconds} s, and ${limitSeconds} s were paid` }
      }
    }
  }
}

const allowancesAreKept: ProviderInvariant = function* ({ allowances, calls }) {
  for (const { number, purchasedSeconds, subject } of allowances) {
    const inbound = calls.filter(({ direction, to }) => direction === "inbound" && to === number)
    const seconds = inbound.map((call) => call.seconds ?? 0)
    if (seconds.reduce((sum, each) => sum + each, 0) > purchasedSeconds) {
      yield { subject, text: `${number} took calls of ${seconds.join(" + ")} s, and ${purchasedSeconds} s were bought` }
    }
  }
}

const mailsAreSentOnce: ProviderInvariant = function* ({ expectedMails, mails }) {
  for (const { isSent, mayRepeat, recipient, subject } of expectedMails) {
    const copies = mails.get(recipient) ?? []
    const ids = new Set(copies).size
    if (isSent && (ids !== 1 || (copies.length !== 1 && !mayRepeat))) {
      yield { subject, text: `${recipient} received ${copies.length} copies under ${ids} Message-IDs` }
    }
    if (!isSent && copies.length > 0) yield { subject, text: `${recipient} received ${copies.length} copies, not sold` }
  }
}

export const PROVIDER_INVARIANTS = {
  "every sold number has one owner": numbersHaveOneOwner,
  "every sold call is dialed once": soldCallsAreDialedOnce,
  "a call has the limit that was paid": callsHaveTheirLimit,
  "inbound calls stay within the allowance": allowancesAreKept,
  "a mail is sent once": mailsAreSentOnce
} as const satisfies Readonly<Record<string, ProviderInvariant>>
