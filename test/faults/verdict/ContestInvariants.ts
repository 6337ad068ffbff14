import { type Answer, codeOf, isSuccess } from "../observation/Purchases.ts"
import type { Finding, Invariant, Subject } from "./Judge.ts"

/** The answers to the copies of one request. */
export interface ContestOutcome {
  /** The first answer to each copy. */
  readonly first: ReadonlyArray<Answer>
  /** The answer to each copy after which its client stopped. */
  readonly last: ReadonlyArray<Answer>
  readonly won: boolean
}

/** Requests that were sent at the same time. */
export interface Contest {
  readonly subject: Subject
  readonly outcomes: ReadonlyArray<ContestOutcome>
  /** How many must win, if that is certain. */
  winners?: number
  /** The codes of a loss, if only these are correct. */
  losingCodes?: ReadonlyArray<string>
}

export interface ContestObservations {
  readonly contests: ReadonlyArray<Contest>
  /** Problems that a race found while it was played. */
  readonly findings: ReadonlyArray<Finding>
}

type ContestInvariant = Invariant<ContestObservations>

/** How often each code was answered: `3 × OK, 1 × CONFLICT`. */
const codesOf = (answers: ReadonlyArray<Answer>): string =>
  [...Map.groupBy(answers, codeOf)].map(([code, same]) => `${same.length} × ${code}`).join(", ")

const winnersOnlyWait: ContestInvariant = function* ({ contests }) {
  for (const { outcomes, subject } of contests) {
    for (const { first, last } of outcomes.filter(({ won }) => won)) {
      if (!last.every(isSuccess)) yield { subject, text: `a success was followed by ${codesOf(last)}` }
      const wrong = first.filter((answer) => !isSuccess(answer) && answer.code !== "PAYMENT_PENDING")
      if (wrong.length > 0) {
        const texts = wrong.map(({ text }) => text).join(" | ")
        yield { subject, text: `the winner was first answered ${codesOf(first)}: ${texts}` }
      }
    }
  }
}

const rightNumberWins: ContestInvariant = function* ({ contests }) {
  for (const { outcomes, subject, winners } of contests) {
    const count = outcomes.filter(({ won }) => won).length
    if (winners !== undefined && count !== winners) {
      const answers = outcomes.map(({ last }) => codesOf(last)).join(" | ")
      yield { subject, text: `${count} winners, not ${winners}: ${answers}` }
    }
  }
}

const losersAreRefused: ContestInvariant = function* ({ contests }) {
  for (const { losingCodes, outcomes, subject } of contests) {
    for (const { first, last } of outcomes.filter(({ won }) => !won)) {
      const other = [...first, ...last].find((answer) => losingCodes?.includes(codeOf(answer)) === false)
      if (other !== undefined) yield { subject, text: `a loser was answered ${other.status} ${other.text}` }
    }
  }
}

export const CONTEST_INVARIANTS = {
  "a winner is asked at most to wait": winnersOnlyWait,
  "the right number of requests wins": rightNumberWins,
  "a loser is refused for its reason": losersAreRefused,
  "each race's own checks hold": ({ findings }: ContestObservations) => findings
} as const satisfies Readonly<Record<string, ContestInvariant>>
