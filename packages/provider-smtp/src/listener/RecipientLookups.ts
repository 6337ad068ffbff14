import type { InboundRefusal, InboundSender } from "@agentos/core"
import type { Exit } from "effect"

/** Why mail to a recipient is refused, or null if it is accepted. */
type Verdict = Promise<Exit.Exit<InboundRefusal | null>>
type Lookup = (address: string, from: InboundSender) => Verdict

/**
 * Looks up recipients, a limited number at the same time. Concurrent requests of one sender for the same
 * recipient share a lookup.
 */
export class RecipientLookups {
  readonly #lookup: Lookup
  readonly #limit: number
  readonly #pending = new Map<string, Verdict>()
  readonly #waiting: Array<() => void> = []
  #running = 0

  constructor(lookup: Lookup, limit: number) {
    this.#lookup = lookup
    this.#limit = limit
  }

  find(address: string, from: InboundSender): Verdict {
    const key = [from.remoteAddress, from.mailFrom, address].join("\n")
    const pending = this.#pending.get(key)
    if (pending !== undefined) return pending
    const found = this.#run(key, () => this.#lookup(address, from))
    this.#pending.set(key, found)
    return found
  }

  async #run(key: string, lookup: () => Verdict): Verdict {
    if (this.#running >= this.#limit) await new Promise<void>((resolve) => this.#waiting.push(resolve))
    else this.#running++
    try {
      return await lookup()
    } finally {
      this.#pending.delete(key)
      // The place goes to the next request in line, or becomes free.
      const next = this.#waiting.shift()
      if (next === undefined) this.#running--
      else next()
    }
  }
}
