import { inspect } from "node:util"
import { createMailbox } from "../faults/client/Requests.ts"
import { newWallets, type Wallet } from "../faults/client/Wallet.ts"
import { untilExpired } from "../faults/observation/Chain.ts"
import { CarrierSales } from "../faults/observation/CarrierSales.ts"
import { CONTEST_INVARIANTS } from "../faults/verdict/ContestInvariants.ts"
import { judge, type Violation } from "../faults/verdict/Judge.ts"
import { judgePayments } from "../faults/verdict/PaymentInvariants.ts"
import { PROVIDER_INVARIANTS } from "../faults/verdict/ProviderInvariants.ts"
import { aligned } from "../faults/verdict/Report.ts"
import { CarrierLog } from "../support/CarrierLog.ts"
import type { Cluster } from "../support/Cluster.ts"
import { makeRandom, type Random } from "../support/Random.ts"
import { RelayLog } from "../support/RelayLog.ts"
import { TokenLog } from "../support/TokenLog.ts"
import { Treasury } from "../support/Treasury.ts"
import { mailboxBy, numberBy, orderNumberOf } from "./Goods.ts"
import { provide, type Race, RaceRecord, Round, SETUP, type Tally } from "./Round.ts"

/** Rounds at the same time. */
const LANES = 4
/** Wallets that have a mailbox and a number before the races begin: two per lane. */
export const KNOWN_WALLETS = 2 * LANES
/** In USDT: enough for the longest run. */
const AMPLE = 100_000
const FUNDS = 100

/** What happened in one race. */
export interface RaceRow extends Tally {
  readonly race: string
  readonly charges: number
  readonly refunds: number
  readonly violations: number
}

export interface RaceVerdict {
  readonly rows: ReadonlyArray<RaceRow>
  readonly violations: ReadonlyArray<Violation>
}

/** Plays races on the servers of a cluster, and judges them. The same seed makes the same choices. */
export class RaceRun {
  readonly record = new RaceRecord()
  readonly #cluster: Cluster
  readonly #random: Random
  readonly #treasury: Treasury
  readonly #sales: CarrierSales
  #wallets: ReadonlyArray<Wallet> = []
  #races = 0

  private constructor(cluster: Cluster, seed: number) {
    this.#cluster = cluster
    this.#random = makeRandom(seed)
    this.#treasury = new Treasury(cluster.chain)
    this.#sales = new CarrierSales(new CarrierLog(cluster.phones.carrier.url))
  }

  static async open(cluster: Cluster, seed: number): Promise<RaceRun> {
    const run = new RaceRun(cluster, seed)
    await run.#treasury.fund([cluster.refundWallet], AMPLE)
    const wallets = await newWallets(cluster, run.#treasury, KNOWN_WALLETS, AMPLE)
    await Promise.all(wallets.map((wallet, index) => run.#equip(wallet, index % cluster.servers.length)))
    run.#wallets = wallets
    return run
  }

  /** Buys a mailbox and a number for a wallet. */
  async #equip(wallet: Wallet, server: number): Promise<void> {
    const localPart = `known-${wallet.address.slice(2, 14).toLowerCase()}`
    const { authentication, mailbox } = mailboxBy(await provide(this.record, wallet, createMailbox(localPart), server))
    wallet.token = authentication.accessToken
    wallet.mailbox = mailbox
    const order = orderNumberOf(this.#cluster, "US")
    const { number, phoneNumberId } = numberBy(await provide(this.record, wallet, order, server))
    wallet.phoneNumberId = phoneNumberId
    this.record.owned.push({ subject: { group: SETUP, label: wallet.address }, number, isKept: true })
  }

  /** Plays this many rounds of a race, or a few more if one play is several rounds. */
  async play(race: Race, rounds: number): Promise<void> {
    const plays = Math.ceil(rounds / race.roundsPerPlay)
    const fresh = [...(await newWallets(this.#cluster, this.#treasury, plays * race.freshWallets, FUNDS))]
    const random = this.#random.fork(this.#races++)
    const tally = this.record.tally(race.name)
    let next = 0
    const playLane = async (lane: readonly [Wallet, Wallet]): Promise<void> => {
      for (let number = next++; number < plays; number = next++) {
        const round = new Round({
          cluster: this.#cluster,
          record: this.record,
          race: race.name,
          number,
          random: random.fork(number),
          lane,
          wallets: this.#wallets,
          fresh: () => {
            const wallet = fresh.pop()
            if (wallet === undefined) throw new Error(`${race.name} needs more wallets than it declares`)
            return wallet
          }
        })
        tally.rounds += race.roundsPerPlay
        await race.play(round).catch((error: unknown) => round.report(`failed with ${inspect(error)}`))
      }
    }
    const lanes = Array.from({ length: race.isAlone ? 1 : (race.lanes ?? LANES) }, (_, index) => {
      const lane = index % LANES
      return [this.#wallets[2 * lane]!, this.#wallets[2 * lane + 1]!] as const
    })
    await Promise.all(lanes.map(playLane))
    await this.#sales.count()
  }

  /** Violations that the answers alone show. */
  judgeAnswers({ name }: Race): ReadonlyArray<Violation> {
    return judge(CONTEST_INVARIANTS, this.record).filter(({ subject }) => subject?.group === name)
  }

  /** Waits until no payment can be charged any more. */
  untilExpired(): Promise<void> {
    const validBefore = this.record.purchases.flatMap(({ payments }) =>
      payments.map(({ authorization }) => authorization.validBefore)
    )
    return untilExpired(
      this.#cluster,
      validBefore.reduce((latest, each) => (each > latest ? each : latest), 0n)
    )
  }

  /** Judges the run by the records of chain, relay and carrier as they are now. */
  async judge(): Promise<RaceVerdict> {
    const { record } = this
    const { chain, outboxDir, refundWallet } = this.#cluster
    const [movements, mails, carrier] = await Promise.all([
      new TokenLog(chain).read(),
      new RelayLog(outboxDir).read(),
      this.#sales.read()
    ])
    const none = new Set<never>()
    const {
      charged,
      refunded,
      violations: ofPayments
    } = judgePayments({
      purchases: record.purchases,
      movements,
      payTo: chain.payTo,
      refundWallet,
      goods: new Map(),
      late: none,
      reserved: none
    })
    const violations = [
      ...judge(CONTEST_INVARIANTS, record),
      ...ofPayments,
      ...judge(PROVIDER_INVARIANTS, { ...record, ...carrier, mails })
    ]
    const rows = [...record.tallies].map(([race, tally]): RaceRow => {
      const payments = record.purchases.filter(({ group }) => group === race).flatMap((one) => one.payments)
      return {
        race,
        ...tally,
        charges: payments.filter((payment) => charged.has(payment)).length,
        refunds: payments.filter((payment) => refunded.has(payment)).length,
        violations: violations.filter(({ subject }) => subject?.group === race).length
      }
    })
    return { rows, violations }
  }
}

const COLUMNS = ["rounds", "winners", "losers", "charges", "refunds", "violations"] as const

export const tableOf = (rows: ReadonlyArray<RaceRow>): ReadonlyArray<string> =>
  aligned([["race", ...COLUMNS], ...rows.map((row) => [row.race, ...COLUMNS.map((column) => String(row[column]))])])
