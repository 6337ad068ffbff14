import type { SandboxDescription } from "../supervisor/SandboxFile.ts"
import type { PaidResponse, TourClient } from "./TourClient.ts"

export class TourFailed extends Error {
  constructor(step: string, cause: unknown) {
    super(`${step}: ${cause instanceof Error ? cause.message : String(cause)}`, { cause })
  }
}

/** The result of a step, with the evidence that the step prints. */
export interface StepResult<A> {
  readonly value: A
  readonly evidence: string
}

/** Runs a step and prints one line about it. Rejects with `TourFailed`. */
export type Step = <A>(title: string, run: () => Promise<StepResult<A>>) => Promise<A>

export interface TourContext {
  readonly sandbox: SandboxDescription
  readonly client: TourClient
  readonly step: Step
  /** Returns the price of a service as the catalog states it. */
  readonly priceOf: (serviceId: string) => string
}

const titleWidth = 26

/** Numbers steps from 1. */
export const makeSteps = (print: (line: string) => void): Step => {
  let count = 0
  return async (title, run) => {
    const number = ++count
    const startedAt = performance.now()
    try {
      const { evidence, value } = await run()
      const millis = Math.round(performance.now() - startedAt)
      print(`  ${String(number).padStart(2)}  ${title.padEnd(titleWidth)} ${evidence} (${millis} ms)`)
      return value
    } catch (error) {
      throw new TourFailed(`Step ${number}, "${title}", failed`, error)
    }
  }
}

export const paymentEvidence = ({ after, before, transaction }: PaidResponse<unknown>): string =>
  `transaction ${transaction}, balance ${before} → ${after} USDT`
