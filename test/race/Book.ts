import type { Offer } from "./Wallet.ts"

/** What became of an authorization, by the answers that its wallet got. */
export interface Stake {
  readonly race: string
  readonly round: number
  readonly offer: Offer
  /** How many things it bought. */
  delivered: number
  /** Whether the service said that it gives the money back. */
  returned: boolean
}

/** A mail that a paid send was for. */
export interface ExpectedMail {
  readonly race: string
  readonly round: number
  /** Nobody else is ever written to under this address. */
  readonly recipient: string
  /** Whether any answer said that it was sent. */
  sent: boolean
  /** Whether an attempt at it was cut short, after which it may be there again under the same Message-ID. */
  readonly mayRepeat: boolean
}

/** Somebody who was to be called, and is called for nothing else. */
export interface ExpectedCall {
  readonly race: string
  readonly round: number
  readonly toNumber: string
  /** Whether any answer said that they are called. */
  made: boolean
  /** Connected seconds that were paid for. */
  limitSeconds: number
}

/** A number that a wallet was told is its own. */
export interface SoldNumber {
  readonly race: string
  readonly round: number
  readonly number: string
  /** Until it gave it back. */
  kept: boolean
}

/** A number that is called, and for how long that may be. */
export interface Allowance {
  readonly race: string
  readonly round: number
  readonly number: string
  readonly purchasedSeconds: number
}

export interface Violation {
  readonly race: string
  readonly round: number
  readonly text: string
}

/** How the contenders of a race fared, so far as they could tell. */
export interface Tally {
  rounds: number
  winners: number
  losers: number
}

/** What is bought to play with, and not raced for. */
export const SET_UP = "set-up"

/** Everything that the clients of a run did and were told. The chain, the relay and the carrier are held against it. */
export class Book {
  readonly stakes: Array<Stake> = []
  readonly mails: Array<ExpectedMail> = []
  readonly calls: Array<ExpectedCall> = []
  readonly numbers: Array<SoldNumber> = []
  readonly allowances: Array<Allowance> = []
  readonly violations: Array<Violation> = []
  private readonly tallies = new Map<string, Tally>()

  tally(race: string): Tally {
    const known = this.tallies.get(race)
    if (known !== undefined) return known
    const tally = { rounds: 0, winners: 0, losers: 0 }
    this.tallies.set(race, tally)
    return tally
  }

  /** The races that were run, in their order. */
  get races(): ReadonlyArray<string> {
    return [...this.tallies.keys()]
  }
}
