import type { SandboxDescription } from "../supervisor/SandboxFile.ts"
import type { PaidAnswer, TourClient } from "./TourClient.ts"

/** A step of the tour failed. */
export class TourFailed extends Error {
  constructor(step: string, cause: unknown) {
    super(`${step}: ${cause instanceof Error ? cause.message : String(cause)}`, { cause })
  }
}

/** What a step found, and what proves it. */
export interface Outcome<A> {
  readonly value: A
  readonly proof: string
}

/** Takes a step, and tells of it in one line. Rejects with `TourFailed`. */
export type Step = <A>(title: string, act: () => Promise<Outcome<A>>) => Promise<A>

/** What every part of the tour works with. */
export interface Visit {
  readonly sandbox: SandboxDescription
  readonly client: TourClient
  readonly step: Step
  /** What a service costs, as the catalog writes it. */
  readonly priceOf: (serviceId: string) => string
}

const titleWidth = 26

/** Steps that are counted from 1. */
export const makeSteps = (say: (line: string) => void): Step => {
  let count = 0
  return async (title, act) => {
    const number = ++count
    const startedAt = performance.now()
    try {
      const { proof, value } = await act()
      const millis = Math.round(performance.now() - startedAt)
      say(`  ${String(number).padStart(2)}  ${title.padEnd(titleWidth)} ${proof} (${millis} ms)`)
      return value
    } catch (error) {
      throw new TourFailed(`Step ${number}, "${title}", failed`, error)
    }
  }
}

/** That a step was paid for, and what it took from the wallet. */
export const paymentProof = ({ after, before, transaction }: PaidAnswer<unknown>): string =>
  `transaction ${transaction}, balance ${before} → ${after} USDT`
