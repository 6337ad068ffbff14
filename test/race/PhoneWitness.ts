import { CarrierLog } from "../support/CarrierLog.ts"
import type { Cluster } from "../support/Cluster.ts"
import type { PhoneEvidence } from "./PhoneRules.ts"

/** As many calls as the carrier remembers. */
const CALLS_MAX = 5_000

/** Who looks at the carrier's records often enough that it has forgotten nothing meanwhile. */
export class PhoneWitness {
  private readonly log: CarrierLog
  private readonly sold = new Map<string, number>()
  private seen = 0

  constructor({ phones }: Pick<Cluster, "phones">) {
    this.log = new CarrierLog(phones.carrier.url)
  }

  /** Counts what was sold since it was last looked. Nothing may be under way. */
  async look(): Promise<void> {
    const { forgottenRequests, requests } = await this.log.requests()
    if (forgottenRequests > this.seen) throw new Error("the carrier has forgotten requests that nobody had counted")
    for (const { form, method, path, status } of requests.slice(this.seen - forgottenRequests)) {
      const number = form["PhoneNumber"]
      if (method !== "POST" || !path.endsWith("/IncomingPhoneNumbers.json") || status !== 201) continue
      if (typeof number === "string") this.sold.set(number, (this.sold.get(number) ?? 0) + 1)
    }
    this.seen = forgottenRequests + requests.length
  }

  async evidence(): Promise<PhoneEvidence> {
    await this.look()
    const [calls, { numbers: held }] = await Promise.all([this.log.calls(), this.log.read()])
    if (calls.length >= CALLS_MAX) throw new Error("there were more calls than the carrier remembers")
    return { calls, sold: this.sold, held }
  }
}
