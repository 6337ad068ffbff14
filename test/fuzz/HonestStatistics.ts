import { quantile } from "../bench/Bench.ts"

export type HonestAction = "challenge" | "list" | "quote" | "pay" | "mail" | "event"

export interface HonestError {
  readonly action: HonestAction
  readonly detail: string
  readonly count: number
}

export interface ActionFigures {
  readonly count: number
  readonly p50Millis: number
  readonly p99Millis: number
  readonly maxMillis: number
}

/** The measurements of an honest client. */
export interface HonestReport {
  /** Over challenges, lists and quotes: the 20 requests per second. */
  readonly requests: ActionFigures
  readonly byAction: Readonly<Partial<Record<HonestAction, ActionFigures>>>
  readonly errors: ReadonlyArray<HonestError>
}

const REQUESTS: ReadonlySet<HonestAction> = new Set(["challenge", "list", "quote"])

/** Collects times and errors. A time counts from when the action was due, so that it includes every delay. */
export class HonestStatistics {
  readonly #millis = new Map<HonestAction, Array<number>>()
  readonly #errors = new Map<string, HonestError>()

  succeed(action: HonestAction, millis: number): void {
    const known = this.#millis.get(action)
    if (known === undefined) this.#millis.set(action, [millis])
    else known.push(millis)
  }

  fail(action: HonestAction, detail: string): void {
    const key = `${action} ${detail}`
    this.#errors.set(key, { action, detail, count: (this.#errors.get(key)?.count ?? 0) + 1 })
  }

  report(): HonestReport {
    const all = [...this.#millis]
    return {
      requests: figuresOf(all.filter(([action]) => REQUESTS.has(action)).flatMap(([, millis]) => millis)),
      byAction: Object.fromEntries(all.map(([action, millis]) => [action, figuresOf(millis)])),
      errors: [...this.#errors.values()]
    }
  }
}

export const figuresOf = (millis: ReadonlyArray<number>): ActionFigures => {
  const sorted = millis.toSorted((a, b) => a - b)
  return {
    count: sorted.length,
    p50Millis: Math.round(quantile(sorted, 0.5)),
    p99Millis: Math.round(quantile(sorted, 0.99)),
    maxMillis: Math.round(sorted.at(-1) ?? Number.NaN)
  }
}
