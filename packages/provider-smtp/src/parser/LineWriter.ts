const NUMBER_END = /\d$/
const NUMBER = /^[-+\u2212]?\d/

/**
 * Writes the lines of a text. White space is one space, and no more than one line in a row is empty. Preformatted text keeps
 * the white space within its lines.
 */
export class LineWriter {
  readonly #parts: Array<string> = []
  #breaks = 0
  /** The white space before the next word. */
  #gap = ""
  #isRaised = false
  isQuote = false

  /** Ends the line, and with 2 also the paragraph. */
  break(count: 1 | 2): void {
    this.#breaks = Math.max(this.#breaks, count)
    this.#gap = ""
  }

  space(): void {
    if (this.#gap === "") this.#gap = " "
  }

  /** A number that is written before `lower`, directly after another number, becomes its exponent: `10^6`. */
  raise(): void {
    this.#isRaised = true
  }

  lower(): void {
    this.#isRaised = false
  }

  write(text: string): void {
    for (const [piece] of text.matchAll(/\S+|\s+/g)) {
      if (piece.trim() === "") this.space()
      else this.word(piece)
    }
  }

  writePreformatted(text: string): void {
    for (const [index, line] of text.split(/\r?\n/).entries()) {
      if (index > 0) this.break(this.#breaks === 0 ? 1 : 2)
      for (const [piece] of line.matchAll(/\S+|\s+/g)) {
        if (piece.trim() === "") this.#gap += piece
        else this.word(piece, this.#gap)
      }
    }
  }

  /** Writes a word. At the beginning of a line, only `indent` is before it. */
  word(text: string, indent = ""): void {
    const isFirst = this.#parts.length === 0
    const beginsLine = isFirst || this.#breaks > 0
    if (!isFirst && beginsLine) this.#parts.push("\n".repeat(this.#breaks))
    if (this.isQuote && beginsLine) this.#parts.push("> ")
    const gap = beginsLine ? indent : this.#gap
    if (gap !== "") this.#parts.push(gap)
    else if (this.#isRaised && !beginsLine && NUMBER_END.test(this.#parts.at(-1)!) && NUMBER.test(text)) {
      this.#parts.push("^")
    }
    this.#parts.push(text)
    this.#breaks = 0
    this.#gap = ""
    this.#isRaised = false
  }

  toString(): string {
    return this.#parts.join("")
  }
}
