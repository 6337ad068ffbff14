import { randomUUID } from "node:crypto"
import { setTimeout as sleep } from "node:timers/promises"
import type { Wallet } from "../faults/client/Wallet.ts"
import { useOf } from "../faults/client/Wallet.ts"
import { type Answer, isSuccess, type Payment, type Purchase, type Use } from "../faults/observation/Purchases.ts"
import type { Contest, ContestObservations, ContestOutcome } from "../faults/verdict/ContestInvariants.ts"
import type { Finding, Subject } from "../faults/verdict/Judge.ts"
import type { Allowance, ExpectedCall, ExpectedMail, OwnedNumber } from "../faults/verdict/ProviderInvariants.ts"
import type { Request } from "../support/Agent.ts"
import type { Cluster } from "../support/Cluster.ts"
import { PhoneCarrier } from "../support/PhoneCarrier.ts"
import type { Random } from "../support/Random.ts"

/** A way in which concurrent requests interfere. */
export interface Race {
  readonly name: string
  /** New wallets that each play needs. */
  readonly freshWallets: number
  /** Rounds of one play; more than one where they share a wait. */
  readonly roundsPerPlay: number
  /** Nothing else may run at the same time. */
  readonly isAlone: boolean
  /** Plays at the same time, if not the usual number. Such plays use fresh wallets only. */
  readonly lanes?: number
  readonly play: (round: Round) => Promise<void>
}

export interface Tally {
  rounds: number
  winners: number
  losers: number
}

/** The group of purchases that only prepare a race. */
export const SETUP = "setup"

/** Everything that the clients of a run did and were answered. */
export class RaceRecord implements ContestObservations {
  readonly purchases: Array<Purchase> = []
  readonly contests: Array<Contest> = []
  readonly findings: Array<Finding> = []
  readonly expectedMails: Array<ExpectedMail> = []
  readonly expectedCalls: Array<ExpectedCall> = []
  readonly owned: Array<OwnedNumber> = []
  readonly allowances: Array<Allowance> = []
  /** By race, in the order in which they were played. */
  readonly tallies = new Map<string, Tally>()

  tally(group: string): Tally {
    const tally = this.tallies.get(group) ?? { rounds: 0, winners: 0, losers: 0 }
    this.tallies.set(group, tally)
    return tally
  }

  /** Adds the purchase of a payment. Its goods are checked by the race itself, and by the providers' records. */
  addPayment(subject: Subject, payment: Payment): void {
    this.purchases.push({ ...subject, payments: [payment], isHidden: true })
  }
}

export interface RoundSetting {
  readonly cluster: Cluster
  readonly record: RaceRecord
  readonly race: string
  readonly number: number
  readonly random: Random
  /** Wallets with a mailbox, a number and a token, which no other round uses at the same time. */
  readonly lane: readonly [Wallet, Wallet]
  /** All such wallets, for a race that is played alone. */
  readonly wallets: ReadonlyArray<Wallet>
  /** Takes a wallet that the service does not know. */
  readonly fresh: () => Wallet
}

/** A request with a payment and a key, of which several copies are sent. */
export interface Contender {
  readonly wallet: Wallet
  readonly request: Request
  readonly payment: Payment
  readonly use: Use
}

export interface Outcome extends ContestOutcome {
  readonly contender: Contender
}

/** How long a client repeats its request. */
const PATIENCE_MILLIS = 60_000
const RETRY_MILLIS = 250
const SETUP_TRIES = 100
/** The copies of a burst are sent within this time. */
const SPREAD_MILLIS = 6

/** Whether the client must repeat the same bytes. */
export const isOpen = ({ code, paymentState }: Answer): boolean =>
  code === "PAYMENT_PENDING" || code === "PROVIDER_TEMPORARY_FAILURE" || paymentState === "refund_due"

/** Whether a refund was reported to the contender. */
export const isRefunded = ({ last }: ContestOutcome): boolean =>
  last.some(({ paymentState }) => paymentState === "refunded")

/** One round of a race. */
export class Round {
  readonly setting: RoundSetting
  readonly subject: Subject

  constructor(setting: RoundSetting) {
    this.setting = setting
    this.subject = { group: setting.race, label: `round ${setting.number}` }
  }

  get random(): Random {
    return this.setting.random
  }

  /** A name that no other round uses. */
  name(what: string): string {
    return `${what}-${this.setting.race.replaceAll(/[^a-z]+/g, "-")}-${this.setting.number}-${randomUUID().slice(0, 8)}`
  }

  server(): number {
    return this.random.integer(this.setting.cluster.servers.length)
  }

  get carrier(): PhoneCarrier {
    return new PhoneCarrier(this.setting.cluster.phones)
  }

  report(text: string): void {
    this.setting.record.findings.push({ subject: this.subject, text })
  }

  /** Pays for something that the round needs. */
  provide(wallet: Wallet, request: Request): Promise<Answer> {
    return provide(this.setting.record, wallet, request, this.server())
  }

  /** A new use of a payment; of one that is signed now, unless it is given. */
  async contender(wallet: Wallet, request: Request, given?: Payment, key?: string): Promise<Contender> {
    const payment = given ?? (await wallet.sign(request, this.server()))
    if (given === undefined) this.setting.record.addPayment(this.subject, payment)
    return { wallet, request, payment, use: useOf(payment, request, key) }
  }

  send({ payment, use, wallet }: Contender, server: number): Promise<Answer> {
    return wallet.send(payment, use, server)
  }

  /** Repeats a request until its answer no longer asks for that. */
  async finish(
    contender: Contender,
    server: number,
    patienceMillis: number = PATIENCE_MILLIS,
    mustRepeat: (answer: Answer) => boolean = isOpen
  ): Promise<Answer> {
    const deadline = performance.now() + patienceMillis
    for (;;) {
      const answer = await this.send(contender, server)
      if (!mustRepeat(answer)) return answer
      if (performance.now() > deadline) {
        this.report(`still asked to repeat after ${patienceMillis} ms: ${answer.text}`)
        return answer
      }
      await sleep(RETRY_MILLIS)
    }
  }

  /** Sends copies of each contender at once, over all servers, and repeats each until its answer is final. */
  async run(
    contenders: ReadonlyArray<Contender>,
    copies: number,
    expected: Pick<Contest, "winners" | "losingCodes"> = {}
  ): Promise<ReadonlyArray<Outcome>> {
    const { servers } = this.setting.cluster
    const spread = this.random.integer(SPREAD_MILLIS)
    const entries = this.random.shuffle(
      contenders.flatMap((contender, index) =>
        Array.from({ length: copies }, (_, copy) => ({ contender, server: (index + copy) % servers.length }))
      )
    )
    const answered = await Promise.all(
      entries.map(async ({ contender, server }) => {
        await sleep(this.random.integer(spread + 1))
        return { contender, server, first: await this.send(contender, server) }
      })
    )
    const finished = await Promise.all(
      answered.map(async (entry) => ({ ...entry, last: await this.finish(entry.contender, entry.server) }))
    )
    const outcomes = contenders.map((contender) => {
      const own = finished.filter((entry) => entry.contender === contender)
      return outcomeOf(
        contender,
        own.map(({ first }) => first),
        own.map(({ last }) => last)
      )
    })
    this.addContest({ outcomes, ...expected })
    return outcomes
  }

  addContest(contest: Omit<Contest, "subject">): void {
    const { race, record } = this.setting
    const winners = contest.outcomes.filter(({ won }) => won).length
    record.tally(race).winners += winners
    record.tally(race).losers += contest.outcomes.length - winners
    record.contests.push({ subject: this.subject, ...contest })
  }

  /** A paid mail, which the relay must have if a client was told that it was sent, and only then. */
  expectMail(recipient: string, outcomes: ReadonlyArray<Outcome>, mayRepeat = false): void {
    const isSent = outcomes.some(({ won }) => won)
    this.setting.record.expectedMails.push({ subject: this.subject, recipient, isSent, mayRepeat })
  }

  /** A person who must be dialed once if the call was sold, and never otherwise. */
  expectCall(toNumber: string, isSold: boolean, limitSeconds: number): ExpectedCall {
    const call = { subject: this.subject, toNumber, isSold, limitSeconds }
    this.setting.record.expectedCalls.push(call)
    return call
  }

  expectNumber(number: string): OwnedNumber {
    const owned = { subject: this.subject, number, isKept: true }
    this.setting.record.owned.push(owned)
    return owned
  }
}

export const outcomeOf = (
  contender: Contender,
  first: ReadonlyArray<Answer>,
  last: ReadonlyArray<Answer>
): Outcome => ({ contender, first, last, won: [...first, ...last].some(isSuccess) })

/** Pays for something without a competitor. */
export const provide = async (
  record: RaceRecord,
  wallet: Wallet,
  request: Request,
  server: number
): Promise<Answer> => {
  const tally = record.tally(SETUP)
  const payment = await wallet.sign(request, server)
  record.addPayment({ group: SETUP, label: `purchase ${++tally.rounds}` }, payment)
  const use = useOf(payment, request)
  let answer = await wallet.send(payment, use, server)
  for (let tries = 0; isOpen(answer) && tries < SETUP_TRIES; tries++) {
    await sleep(RETRY_MILLIS)
    answer = await wallet.send(payment, use, server)
  }
  if (!isSuccess(answer)) throw new Error(`${request.path} was answered ${answer.status}: ${answer.text}`)
  tally.winners++
  return answer
}
