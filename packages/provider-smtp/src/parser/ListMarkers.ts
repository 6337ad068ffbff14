import { Token } from "parse5"

const INTEGER = /^\s{0,9}[-+]?\d{1,9}/
const LETTERS = "abcdefghijklmnopqrstuvwxyz"

const integerOf = (token: Token.TagToken, name: string): number | undefined => {
  const [digits] = INTEGER.exec(Token.getTokenAttr(token, name) ?? "") ?? []
  return digits === undefined ? undefined : Number(digits)
}

interface NumberedList {
  readonly step: 1 | -1
  readonly type: string
  next: number
}

/** The marks of the items in nested lists: a hyphen, or the number or letter that a mail program shows. */
export class ListMarkers {
  /** Undefined for a list without numbers. */
  readonly #open: Array<NumberedList | undefined> = []

  start(token: Token.TagToken): void {
    const isReversed = Token.getTokenAttr(token, "reversed") !== null
    const first = integerOf(token, "start")
    // Where a list counts down to 1, its first number depends on the items that follow.
    const isNumbered = token.tagName === "ol" && !(isReversed && first === undefined)
    const type = Token.getTokenAttr(token, "type") ?? ""
    this.#open.push(isNumbered ? { step: isReversed ? -1 : 1, type, next: first ?? 1 } : undefined)
  }

  end(): void {
    this.#open.pop()
  }

  /** Returns the mark of an item. */
  next(item: Token.TagToken): string {
    const list = this.#open.at(-1)
    if (list === undefined) return "-"
    const number = integerOf(item, "value") ?? list.next
    list.next = number + list.step
    const letter = LETTERS[number - 1]
    if (letter !== undefined && list.type === "a") return `${letter}.`
    if (letter !== undefined && list.type === "A") return `${letter.toUpperCase()}.`
    return `${number}.`
  }
}
