/** A number that only grows, and that one can wait for. */
export class Level {
  #value = 0
  #waiting: Array<{ readonly at: number; readonly resume: () => void }> = []

  get value(): number {
    return this.#value
  }

  raise(value: number): void {
    this.#value = Math.max(this.#value, value)
    const reached = this.#waiting.filter(({ at }) => at <= this.#value)
    this.#waiting = this.#waiting.filter(({ at }) => at > this.#value)
    for (const { resume } of reached) resume()
  }

  reached(at: number): Promise<void> {
    return new Promise((resolve) => {
      if (at <= this.#value) resolve()
      else this.#waiting.push({ at, resume: resolve })
    })
  }
}
