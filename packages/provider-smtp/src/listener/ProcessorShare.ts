/** Fraction of each second that the tasks may use. */
const SHARE = 0.4
/** The longest turn of the tasks, in milliseconds: all other work waits at most that long. */
const TURN_MILLIS = 4

/** The longest time that a turn counts: a longer turn was interrupted by other processes of the machine. */
const COUNTED_MILLIS = 2 * TURN_MILLIS

/** The longest time, in milliseconds, that the tasks wait after they have used up their share. */
const WAIT_MILLIS = 250

/**
 * Runs tasks in a bounded share of the event loop, so that the rest of the process keeps running.
 *
 * Peers take turns with one task each, so a peer with many tasks does not delay the others. A task that causes
 * work elsewhere (a database query) is charged for it.
 */
export class ProcessorShare {
  /** Ordered by turn: the next peer comes first. */
  readonly #tasks = new Map<string, Array<() => void>>()
  readonly #now: () => number
  #budgetMillis = TURN_MILLIS
  #countedAt: number
  #isScheduled = false

  /** `now` returns milliseconds, with fractions. */
  constructor(now: () => number) {
    this.#now = now
    this.#countedAt = now()
  }

  run(peer: string, task: () => void): void {
    const waiting = this.#tasks.get(peer)
    if (waiting === undefined) this.#tasks.set(peer, [task])
    else waiting.push(task)
    this.#schedule()
  }

  /** Deducts `millis` from the share for work that the tasks have caused elsewhere. */
  charge(millis: number): void {
    this.#budgetMillis = Math.max(this.#budgetMillis - millis, -WAIT_MILLIS * SHARE)
  }

  #schedule(): void {
    if (this.#isScheduled || this.#tasks.size === 0) return
    this.#isScheduled = true
    this.#refill()
    if (this.#budgetMillis > 0) setImmediate(this.#turn)
    else setTimeout(this.#turn, Math.min(WAIT_MILLIS, Math.ceil((TURN_MILLIS / 2 - this.#budgetMillis) / SHARE)))
  }

  #refill(): void {
    const now = this.#now()
    this.#budgetMillis = Math.min(TURN_MILLIS, this.#budgetMillis + Math.max(0, now - this.#countedAt) * SHARE)
    this.#countedAt = now
  }

  readonly #turn = (): void => {
    this.#refill()
    const began = this.#now()
    for (const [peer, [task, ...rest]] of this.#tasks) {
      this.#tasks.delete(peer)
      // Inserted again, it moves to the end of the map, where this loop reaches it again.
      if (rest.length > 0) this.#tasks.set(peer, rest)
      task?.()
      if (this.#now() - began >= Math.min(this.#budgetMillis, TURN_MILLIS)) break
    }
    this.#budgetMillis -= Math.min(this.#now() - began, COUNTED_MILLIS)
    this.#isScheduled = false
    this.#schedule()
  }
}
