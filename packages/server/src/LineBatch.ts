/** How long a line may wait for others, in milliseconds. */
const DELAY = 10
/** Number of characters that wait at most. */
const CAPACITY = 64 * 1024

/**
 * Writes lines together, because one write a line takes a tenth of the time of a small request. A line waits for at most
 * ten milliseconds, and at most 64 Ki characters wait. Lines that wait are lost only if the process is killed: `flush`
 * belongs on its exit.
 */
export class LineBatch {
  #waiting = ""
  #timer: NodeJS.Timeout | undefined
  readonly #write: (text: string) => void

  /** `write` returns when the text is written, so that a slow reader delays the process instead of filling its memory. */
  constructor(write: (text: string) => void) {
    this.#write = write
  }

  append(line: string): void {
    this.#waiting += `${line}\n`
    if (this.#waiting.length >= CAPACITY) this.flush()
    else this.#timer ??= setTimeout(() => this.flush(), DELAY).unref()
  }

  readonly flush = (): void => {
    clearTimeout(this.#timer)
    this.#timer = undefined
    if (this.#waiting === "") return
    const text = this.#waiting
    this.#waiting = ""
    this.#write(text)
  }
}
