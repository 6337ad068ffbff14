/** A bounded queue with one consumer. */
export class Queue<Item> {
  readonly #items: Array<Item> = []
  readonly #limit: number
  #failure: { readonly error: unknown } | undefined
  #isClosed = false
  #wake: (() => void) | undefined

  constructor(limit: number) {
    this.#limit = limit
  }

  get length(): number {
    return this.#items.length
  }

  get isClosed(): boolean {
    return this.#isClosed
  }

  /** Adds an item. Returns false if the queue is full or closed. */
  offer(item: Item): boolean {
    if (this.#isClosed || this.#items.length >= this.#limit) return false
    this.#items.push(item)
    this.#wakeUp()
    return true
  }

  /** Removes the items for which `isKept` is false. */
  keep(isKept: (item: Item) => boolean): void {
    const kept = this.#items.filter(isKept)
    this.#items.splice(0, this.#items.length, ...kept)
  }

  /** Ends the queue at once: the consumer gets none of the waiting items, and rejects with the failure if one is given. */
  close(failure?: { readonly error: unknown }): void {
    this.#isClosed = true
    this.#failure ??= failure
    this.#items.length = 0
    this.#wakeUp()
  }

  /** Returns the next item; undefined when the queue is closed, or when the signal is aborted. */
  async take(signal?: AbortSignal): Promise<Item | undefined> {
    const wake = () => this.#wakeUp()
    signal?.addEventListener("abort", wake)
    try {
      for (;;) {
        if (this.#failure !== undefined) throw this.#failure.error
        const item = this.#items.shift()
        if (item !== undefined) return item
        if (this.#isClosed || signal?.aborted === true) return undefined
        await new Promise<void>((resolve) => (this.#wake = resolve))
      }
    } finally {
      signal?.removeEventListener("abort", wake)
    }
  }

  #wakeUp(): void {
    this.#wake?.()
    this.#wake = undefined
  }
}
