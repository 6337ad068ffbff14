import { randomUUID } from "node:crypto"
import { setTimeout as sleep } from "node:timers/promises"
import type { Reply, Request } from "../support/Agent.ts"
import type { Cluster } from "../support/Cluster.ts"
import { PhoneCarrier } from "../support/PhoneCarrier.ts"
import { type Book, type ExpectedCall, SET_UP, type SoldNumber, type Stake } from "./Book.ts"
import type { Random } from "./Random.ts"
import type { Offer, Wallet } from "./Wallet.ts"

/** What a round is played with. */
export interface RoundSetting {
  readonly cluster: Cluster
  readonly book: Book
  readonly race: string
  readonly number: number
  readonly random: Random
  /** Wallets with a mailbox and a token, which no other round uses meanwhile. */
  readonly lane: readonly [Wallet, Wallet]
  /** All of those wallets, for a race that is run alone. */
  readonly wallets: ReadonlyArray<Wallet>
  /** A wallet that the service has never seen. */
  readonly fresh: () => Wallet
}

/** One who wants something: a request with a payment and a key, of which any number of copies are sent. */
export interface Contender {
  readonly wallet: Wallet
  readonly request: Request
  readonly stake: Stake
  readonly key: string
}

/** What became of a contender. */
export interface Outcome {
  readonly contender: Contender
  /** The first answer of each copy. */
  readonly first: ReadonlyArray<Reply>
  /** Of each copy, once it was no longer told to come back. */
  readonly last: ReadonlyArray<Reply>
  readonly won: boolean
}

/** For how long a client comes back. */
const PATIENCE_MILLIS = 60_000
const COME_BACK_MILLIS = 250

/** Copies of one burst leave within so many milliseconds of each other. */
const SPREAD_MILLIS = 6

export const codeOf = (reply: Reply): string =>
  isSuccess(reply) ? "OK" : (reply.body.error?.code ?? `${reply.status}`)
export const isSuccess = ({ status }: Reply): boolean => status === 200 || status === 201

/** Whether the client is to come back with the same bytes. */
export const isOpen = (reply: Reply): boolean =>
  ["PAYMENT_PENDING", "PROVIDER_TEMPORARY_FAILURE"].includes(codeOf(reply)) || paymentStateOf(reply) === "refund_due"

const paymentStateOf = (reply: Reply): string | undefined => reply.body.error?.paymentState

/** All that a client can tell one success from another by. */
const textOf = (reply: Reply): string => `${reply.status} ${reply.headers.get("payment-response")} ${reply.text}`

/** One round of a race: who takes part, what they are told, and what is wrong with it. */
export class Round {
  readonly setting: RoundSetting

  constructor(setting: RoundSetting) {
    this.setting = setting
  }

  get random(): Random {
    return this.setting.random
  }

  /** A name that no other round has. */
  name(what: string): string {
    return `${what}-${this.setting.race.replaceAll(/[^a-z]+/g, "-")}-${this.setting.number}-${randomUUID().slice(0, 8)}`
  }

  server(): number {
    return this.random.integer(this.setting.cluster.servers.length)
  }

  /** By which people are ruled who call and are called. */
  get carrier(): PhoneCarrier {
    return new PhoneCarrier(this.setting.cluster.phones)
  }

  violation(text: string): void {
    const { book, number, race } = this.setting
    book.violations.push({ race, round: number, text })
  }

  /** Signs for a request, and has it on the books. */
  async stake(wallet: Wallet, request: Request): Promise<Stake> {
    return this.enter(await wallet.offer(request, this.server()))
  }

  enter(offer: Offer): Stake {
    const { book, number, race } = this.setting
    const stake = { race, round: number, offer, delivered: 0, returned: false }
    book.stakes.push(stake)
    return stake
  }

  /** Pays for what is needed to play with. */
  provide(wallet: Wallet, request: Request): Promise<Reply> {
    return provide(this.setting.book, wallet, request, this.server())
  }

  async contender(wallet: Wallet, request: Request, stake?: Stake, key: string = randomUUID()): Promise<Contender> {
    return { wallet, request, stake: stake ?? (await this.stake(wallet, request)), key }
  }

  send({ key, request, stake, wallet }: Contender, server: number): Promise<Reply> {
    return wallet.send(request, stake.offer, key, server)
  }

  /** Repeats a request with its bytes until the answer is one to stay with. */
  async finish(
    contender: Contender,
    server: number,
    patienceMillis: number = PATIENCE_MILLIS,
    comesBack: (reply: Reply) => boolean = isOpen
  ): Promise<Reply> {
    const deadline = performance.now() + patienceMillis
    for (;;) {
      const reply = await this.send(contender, server)
      if (!comesBack(reply)) return reply
      if (performance.now() > deadline) {
        this.violation(`still told to come back after ${patienceMillis} ms: ${reply.text}`)
        return reply
      }
      await sleep(COME_BACK_MILLIS)
    }
  }

  /** Sends so many copies of each contender at once, spread over all servers, and then each again until it is answered for good. */
  async run(contenders: ReadonlyArray<Contender>, copies: number): Promise<ReadonlyArray<Outcome>> {
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
    return contenders.map((contender) => {
      const own = finished.filter((entry) => entry.contender === contender)
      return this.conclude(
        contender,
        own.map(({ first }) => first),
        own.map(({ last }) => last)
      )
    })
  }

  /** Enters what a contender was told, and what no contender may ever be told. */
  conclude(contender: Contender, first: ReadonlyArray<Reply>, last: ReadonlyArray<Reply>): Outcome {
    const tally = this.setting.book.tally(this.setting.race)
    const won = [...first, ...last].some(isSuccess)
    if (won) {
      tally.winners++
      contender.stake.delivered++
    } else {
      tally.losers++
      if (last.some((reply) => paymentStateOf(reply) === "refunded")) contender.stake.returned = true
    }
    const successes = new Set([...first, ...last].filter(isSuccess).map(textOf))
    if (successes.size > 1) this.violation(`${successes.size} different successes: ${[...successes].join(" | ")}`)
    if (won && !last.every(isSuccess)) this.violation(`a success was followed by ${told(last)}`)
    if (won && !first.every((reply) => isSuccess(reply) || codeOf(reply) === "PAYMENT_PENDING")) {
      this.violation(`the winner was first told ${told(first)}`)
    }
    return { contender, first, last, won }
  }

  /** Who has it gets it again, byte for byte. */
  expectSame(outcomes: ReadonlyArray<Outcome>, again: ReadonlyArray<Reply>): void {
    const given = new Set([...outcomes.flatMap(({ last }) => last), ...again].map(textOf))
    if (given.size !== 1) this.violation(`a retry was answered otherwise: ${[...given].join(" | ")}`)
  }

  /** The mail of a paid send has to be at the relay if, and only if, somebody was told that it was sent. */
  expectMail(recipient: string, outcomes: ReadonlyArray<Outcome>, mayRepeat = false): void {
    const { book, number, race } = this.setting
    book.mails.push({ race, round: number, recipient, sent: outcomes.some(({ won }) => won), mayRepeat })
  }

  /** Somebody has to be dialled once, for so long, if a call to them was sold; or else never. */
  expectCall(toNumber: string, made: boolean, limitSeconds: number): ExpectedCall {
    const { book, number, race } = this.setting
    const call = { race, round: number, toNumber, made, limitSeconds }
    book.calls.push(call)
    return call
  }

  /** A wallet was told that a number is its own. */
  expectNumber(number: string): SoldNumber {
    const { book, number: round, race } = this.setting
    const sold = { race, round, number, kept: true }
    book.numbers.push(sold)
    return sold
  }

  /** One of them has it, and each other was told so, every time, by one of these codes. */
  expectOneWinner(outcomes: ReadonlyArray<Outcome>, losing: ReadonlyArray<string>): void {
    const winners = outcomes.filter(({ won }) => won)
    if (winners.length !== 1) {
      this.violation(`${winners.length} winners: ${outcomes.map(({ last }) => told(last)).join(" | ")}`)
    }
    for (const { first, last, won } of outcomes) {
      const other = [...first, ...last].find((reply) => !losing.includes(codeOf(reply)))
      if (!won && other !== undefined) this.violation(`a loser was told ${other.status} ${other.text}`)
    }
  }
}

/** Pays for something, with nobody in the way. */
export const provide = async (book: Book, wallet: Wallet, request: Request, server: number): Promise<Reply> => {
  const tally = book.tally(SET_UP)
  const offer = await wallet.offer(request, server)
  const stake: Stake = { race: SET_UP, round: ++tally.rounds, offer, delivered: 0, returned: false }
  book.stakes.push(stake)
  const key = randomUUID()
  let reply = await wallet.send(request, offer, key, server)
  for (let attempt = 0; isOpen(reply) && attempt < 100; attempt++) {
    await sleep(COME_BACK_MILLIS)
    reply = await wallet.send(request, offer, key, server)
  }
  if (!isSuccess(reply)) throw new Error(`${request.path} was answered ${reply.status}: ${reply.text}`)
  stake.delivered++
  tally.winners++
  return reply
}

/** How often each code was answered. */
const told = (replies: ReadonlyArray<Reply>): string =>
  [...Map.groupBy(replies, codeOf)].map(([code, same]) => `${same.length} × ${code}`).join(", ")
