import type { CarrierLog, TimedCall } from "../../support/CarrierLog.ts"

/** The carrier forgets older calls. */
const CALLS_MAX = 5_000

/** Counts how often the carrier sold each number. The carrier forgets old requests, so it must be read regularly. */
export class CarrierSales {
  readonly #log: CarrierLog
  readonly #sales = new Map<string, number>()
  #seen = 0

  constructor(log: CarrierLog) {
    this.#log = log
  }

  /** Counts the sales since the last call. */
  async count(): Promise<void> {
    const { forgottenRequests, requests } = await this.#log.requests()
    if (forgottenRequests > this.#seen) throw new Error("the carrier has forgotten requests that were not counted")
    for (const { form, method, path, status } of requests.slice(this.#seen - forgottenRequests)) {
      const number = form["PhoneNumber"]
      if (method !== "POST" || !path.endsWith("/IncomingPhoneNumbers.json") || status !== 201) continue
      if (typeof number === "string") this.#sales.set(number, (this.#sales.get(number) ?? 0) + 1)
    }
    this.#seen = forgottenRequests + requests.length
  }

  async read(): Promise<{
    readonly calls: ReadonlyArray<TimedCall>
    readonly sales: ReadonlyMap<string, number>
    readonly held: ReadonlySet<string>
  }> {
    await this.count()
    const [calls, { numbers: held }] = await Promise.all([this.#log.calls(), this.#log.read()])
    if (calls.length >= CALLS_MAX) throw new Error("the carrier has forgotten calls")
    return { calls, sales: this.#sales, held }
  }
}
