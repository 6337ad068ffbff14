/** A worker that served this long before it ended counts as healthy, in milliseconds. */
const HEALTHY_AFTER = 60_000
const FIRST_DELAY = 1_000
const LONGEST_DELAY = 30_000

/** Decides how long a place stays empty: not at all after one end, and longer after each further early end. */
export class RestartDelay {
  #failures = 0

  /** Returns the milliseconds before the next start, after a worker ended that served for a time; 0 if it never did. */
  after(servedMillis: number): number {
    if (servedMillis >= HEALTHY_AFTER) this.#failures = 0
    const delay = this.#failures === 0 ? 0 : FIRST_DELAY * 2 ** (this.#failures - 1)
    this.#failures++
    return Math.min(delay, LONGEST_DELAY)
  }
}
