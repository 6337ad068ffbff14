import * as ClientAddress from "../limits/ClientAddress.ts"
import { addToCount } from "../limits/Counts.ts"
import type { InboundEnvelope } from "./InboundMail.ts"

const networkOf = ({ network, remoteAddress }: InboundEnvelope): string =>
  network ?? ClientAddress.networkOf(remoteAddress)

/**
 * The mails in progress by network. A network may use the same share as each other one that has mail in progress, with one
 * share left for a network that has none, so that the mail of one does not wait for that of another.
 */
export class NetworkShares {
  readonly #capacity: number
  readonly #shareMin: number
  readonly #counts = new Map<string, number>()

  constructor(capacity: number, shareMin: number) {
    this.#capacity = capacity
    this.#shareMin = shareMin
  }

  get #share(): number {
    return Math.max(Math.floor(this.#capacity / Math.max(this.#counts.size + 1, 2)), this.#shareMin)
  }

  /** Returns how many mails may be taken at once, of which all may be from one network. */
  limit(free: number): number {
    return Math.min(free, this.#share)
  }

  /** Whether the network of a mail uses less than its share. */
  admits(envelope: InboundEnvelope): boolean {
    return (this.#counts.get(networkOf(envelope)) ?? 0) < this.#share
  }

  /** The networks that use their share. */
  get exhausted(): ReadonlyArray<string> {
    const share = this.#share
    return [...this.#counts].filter(([, count]) => count >= share).map(([network]) => network)
  }

  add(envelope: InboundEnvelope): void {
    addToCount(this.#counts, networkOf(envelope), 1)
  }

  remove(envelope: InboundEnvelope): void {
    addToCount(this.#counts, networkOf(envelope), -1)
  }
}
