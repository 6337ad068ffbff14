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

/** Everything that the clients of a run did and were told. The chain and the relay are held against it. */
export class Book {
  readonly stakes: Array<Stake> = []
  readonly mails: Array<ExpectedMail> = []
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
