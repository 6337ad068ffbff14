import type { ByteBudget } from "../limits/ByteBudget.ts"

/**
 * The bytes of accepted mails that this server has yet to parse, so that it need not read them from the store. They are
 * only kept while the server parses mail and the budget has room: without room, the oldest are dropped.
 */
export class HeldMails {
  readonly #budget: ByteBudget
  readonly #mails = new Map<string, Uint8Array>()
  #users = 0

  constructor(budget: ByteBudget) {
    this.#budget = budget
  }

  /** Begins to keep mails. */
  open(): void {
    this.#users++
  }

  close(): void {
    this.#users--
    if (this.#users === 0) this.#dropUntil(() => false)
  }

  put(inboundMailId: string, raw: Uint8Array): void {
    if (this.#users === 0 || raw.length > this.#budget.limitBytes) return
    this.#dropUntil(() => this.#budget.usedBytes + raw.length <= this.#budget.limitBytes)
    if (this.#budget.reserve(raw.length)) this.#mails.set(inboundMailId, raw)
  }

  /** Returns the bytes of a mail and forgets them. */
  take(inboundMailId: string): Uint8Array | undefined {
    const raw = this.#mails.get(inboundMailId)
    if (raw === undefined) return undefined
    this.#mails.delete(inboundMailId)
    this.#budget.release(raw.length)
    return raw
  }

  #dropUntil(hasRoom: () => boolean): void {
    for (const inboundMailId of this.#mails.keys()) {
      if (hasRoom()) return
      this.take(inboundMailId)
    }
  }
}
