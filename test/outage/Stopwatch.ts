type Kind = "challenge" | "payment" | "read"

export interface Timed {
  /** How many requests had each status; 0 is one without an answer. */
  readonly statuses: Map<number, number>
  longestMillis: number
}

const kindOf = (url: string, init: RequestInit | undefined): Kind | undefined => {
  if (!url.includes("/api/v1/")) return undefined
  if (new Headers(init?.headers).has("payment-signature")) return "payment"
  return init?.method === "POST" ? "challenge" : "read"
}

/** Measures the requests of this process that begin while it runs, by their kind. Clients that exist before it are not seen. */
export class Stopwatch {
  readonly timed = new Map<Kind, Timed>()
  readonly #fetch = globalThis.fetch
  isRunning = false

  constructor() {
    const fetch = this.#fetch
    globalThis.fetch = async (input, init) => {
      const kind = this.isRunning && typeof input === "string" ? kindOf(input, init) : undefined
      const begunAt = performance.now()
      const answered = fetch(input, init)
      if (kind !== undefined) {
        const record = (status: number) => this.#record(kind, status, performance.now() - begunAt)
        answered.then(
          ({ status }) => record(status),
          () => record(0)
        )
      }
      return answered
    }
  }

  /** Restores the fetch of the process. */
  remove(): void {
    globalThis.fetch = this.#fetch
  }

  #record(kind: Kind, status: number, millis: number): void {
    const timed = this.timed.get(kind) ?? { statuses: new Map(), longestMillis: 0 }
    this.timed.set(kind, timed)
    timed.statuses.set(status, (timed.statuses.get(status) ?? 0) + 1)
    timed.longestMillis = Math.max(timed.longestMillis, millis)
  }
}
