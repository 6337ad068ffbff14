import { Context } from "effect"

/**
 * A bound on memory, counted in bytes. A budget `within` another draws on both, so that one client's share is also part
 * of the total. Every caller must release exactly as many bytes as it reserved.
 */
export class ByteBudget {
  readonly limitBytes: number
  readonly #within: ByteBudget | undefined
  #usedBytes = 0

  constructor(limitBytes: number, within?: ByteBudget) {
    this.limitBytes = limitBytes
    this.#within = within
  }

  get usedBytes(): number {
    return this.#usedBytes
  }

  /**
   * Reserves bytes here and in the enclosing budget. Returns false, and reserves nothing, if either has too few left.
   */
  reserve(bytes: number): boolean {
    if (this.#usedBytes + bytes > this.limitBytes) return false
    if (this.#within !== undefined && !this.#within.reserve(bytes)) return false
    this.#usedBytes += bytes
    return true
  }

  release(bytes: number): void {
    this.#usedBytes -= bytes
    this.#within?.release(bytes)
  }
}

const TRANSIT_LIMIT_BYTES = 64 * 1024 * 1024

/** The memory budget that request bodies and inbound mail share in one process. */
export const TransitMemory = Context.Reference<ByteBudget>("@agentos/core/limits/TransitMemory", {
  defaultValue: () => new ByteBudget(TRANSIT_LIMIT_BYTES)
})
