/** Limits of a JSON text. A text that exceeds them is refused before it is decoded. */
export interface JsonBudget {
  /** Maximum nesting depth of arrays and objects. */
  readonly depth: number
  /** Maximum number of elements of all arrays together. An empty array counts as one. */
  readonly elements: number
  /** Maximum number of keys of all objects together. An empty object counts as one. */
  readonly keys: number
  /** Maximum length of a key, in bytes as written. */
  readonly keyBytes: number
  /** Maximum length of a string value, in bytes as written: `\u0041` has six. */
  readonly stringBytes: number
  /** Maximum number of bytes outside of strings, with their quotes: digits, white space, commas, brackets. */
  readonly plainBytes: number
}

/** The first violation of a JSON text: path (`to.0`, empty for the whole text) and the error there. */
export interface JsonFlaw {
  readonly path: string
  readonly message: string
}

/** An array or object around the current position. */
interface Level {
  /** The keys so far; undefined in an array. */
  readonly keys: Set<string> | undefined
  /** Whether the next string is a key. */
  expectsKey: boolean
  /** The key or index that leads to the current position. */
  step: string | number
}

const QUOTE = 0x22
const COMMA = 0x2c
const OPEN_ARRAY = 0x5b
const BACKSLASH = 0x5c
const CLOSE_ARRAY = 0x5d
const OPEN_OBJECT = 0x7b
const CLOSE_OBJECT = 0x7d

const decoder = new TextDecoder("utf-8", { ignoreBOM: true })

/**
 * Long strings are searched natively, which is several times as fast. Between two calls this many bytes are searched
 * here, so that a text full of quotes does not cost a call for each.
 */
const SEARCHED_HERE_BYTES = 64

/** Returns the number of backslashes before `position`, but not before `start`. */
const backslashesBefore = (bytes: Uint8Array, position: number, start: number): number => {
  let first = position
  while (first > start && bytes[first - 1] === BACKSLASH) first--
  return position - first
}

const notJson: JsonFlaw = { path: "", message: "must be JSON in UTF-8" }

/** Returns the position of the closing quote of a string, or `end` if no quote is before it. */
const findClosingQuote = (string: OpenString, bytes: Uint8Array, start: number, end: number): number => {
  let position = start + (string.isEscaped ? 1 : 0)
  while (position < end) {
    const near = Math.min(position + SEARCHED_HERE_BYTES, end)
    while (position < near) {
      const byte = bytes[position]
      if (byte === QUOTE) return position
      position += byte === BACKSLASH ? 2 : 1
    }
    if (position >= end) break
    const found = bytes.indexOf(QUOTE, position)
    const quote = found === -1 || found >= end ? end : found
    const isEscaped = backslashesBefore(bytes, quote, position) % 2 === 1
    if (quote < end && !isEscaped) return quote
    position = quote + (isEscaped ? 1 : 0)
  }
  string.isEscaped = position > end
  return end
}

/** Returns the key between two quotes; undefined if it is not a JSON string. */
const readKey = (pieces: ReadonlyArray<Uint8Array>): string | undefined => {
  const written = pieces.map((piece) => decoder.decode(piece, { stream: true })).join("") + decoder.decode()
  if (!written.includes("\\")) return written
  try {
    return String(JSON.parse(`"${written}"`))
  } catch {
    return undefined
  }
}

/** The string around the current position. */
interface OpenString {
  readonly isKey: boolean
  readonly limitBytes: number
  /** Its bytes so far. */
  length: number
  /** Whether the next byte is escaped. */
  isEscaped: boolean
  /** The pieces of a key that earlier parts of the text contain. */
  readonly pieces: Array<Uint8Array>
}

/** One pass over a text, which may arrive in parts. */
export class JsonScanner {
  readonly #budget: JsonBudget
  readonly #levels: Array<Level> = []
  #string: OpenString | undefined
  #plainBytes = 0
  #elements = 0
  #keys = 0

  constructor(budget: JsonBudget) {
    this.#budget = budget
  }

  /** Scans the next part of the text. Returns its first flaw, after which the scanner must not be used. */
  scan(bytes: Uint8Array): JsonFlaw | undefined {
    let position = 0
    while (position < bytes.length) {
      if (this.#string !== undefined) {
        const end = this.#readString(this.#string, bytes, position)
        if (typeof end !== "number") return end
        position = end
        continue
      }
      const flaw = this.#readPlain(bytes[position]!)
      if (flaw !== undefined) return flaw
      position++
    }
    return undefined
  }

  /** Reads a byte outside of strings. */
  #readPlain(byte: number): JsonFlaw | undefined {
    const { plainBytes } = this.#budget
    if (++this.#plainBytes > plainBytes) {
      return { path: "", message: `must have at most ${plainBytes} bytes outside of strings` }
    }
    switch (byte) {
      case QUOTE:
        this.#string = this.#begin()
        return undefined
      case OPEN_ARRAY:
      case OPEN_OBJECT:
        return this.#open(byte === OPEN_OBJECT)
      case COMMA:
        return this.#goOn()
      case CLOSE_ARRAY:
      case CLOSE_OBJECT:
        this.#levels.pop()
        return undefined
      default:
        return undefined
    }
  }

  #begin(): OpenString {
    const level = this.#levels.at(-1)
    const { keyBytes, stringBytes } = this.#budget
    const isKey = level?.keys !== undefined && level.expectsKey
    return { isKey, limitBytes: isKey ? keyBytes : stringBytes, length: 0, isEscaped: false, pieces: [] }
  }

  /** Returns the position behind the string, or the end of this part, or a flaw if the string exceeds its budget. */
  #readString(string: OpenString, bytes: Uint8Array, start: number): number | JsonFlaw {
    const { isKey, limitBytes } = string
    const searchEnd = Math.min(bytes.length, start + limitBytes - string.length + 1)
    const end = findClosingQuote(string, bytes, start, searchEnd)
    if (isKey) string.pieces.push(bytes.subarray(start, end))
    string.length += end - start
    if (string.length > limitBytes) {
      return isKey
        ? this.#flawAround(`has a property name longer than ${limitBytes} bytes`)
        : this.#flaw(`must have at most ${limitBytes} bytes`)
    }
    if (end === searchEnd) return end
    this.#string = undefined
    this.#plainBytes++
    return (isKey ? this.#readKey(string.pieces) : undefined) ?? end + 1
  }

  #readKey(pieces: ReadonlyArray<Uint8Array>): JsonFlaw | undefined {
    const level = this.#levels.at(-1)
    const key = readKey(pieces)
    if (level?.keys === undefined || key === undefined) return notJson
    level.step = key
    level.expectsKey = false
    if (level.keys.has(key)) return this.#flaw("appears twice in one object")
    level.keys.add(key)
    return undefined
  }

  #open(isObject: boolean): JsonFlaw | undefined {
    if (this.#levels.length === this.#budget.depth)
      return this.#flaw(`is nested more than ${this.#budget.depth} levels deep`)
    this.#levels.push({ keys: isObject ? new Set() : undefined, expectsKey: isObject, step: 0 })
    return this.#count(isObject)
  }

  /** Advances to the next element or key. */
  #goOn(): JsonFlaw | undefined {
    const level = this.#levels.at(-1)
    if (level === undefined) return undefined
    const isObject = level.keys !== undefined
    if (isObject) level.expectsKey = true
    else level.step = Number(level.step) + 1
    return this.#count(isObject)
  }

  #count(isObject: boolean): JsonFlaw | undefined {
    const { elements, keys } = this.#budget
    if (isObject) return ++this.#keys > keys ? this.#flawAround(`has more than ${keys} properties`) : undefined
    return ++this.#elements > elements ? this.#flawAround(`has more than ${elements} array elements`) : undefined
  }

  #flaw(message: string): JsonFlaw {
    return { path: this.#levels.map(({ step }) => step).join("."), message }
  }

  /** Returns a flaw of the innermost array or object itself. */
  #flawAround(message: string): JsonFlaw {
    this.#levels.pop()
    return this.#flaw(message)
  }
}

/**
 * Returns the first flaw: the text exceeds its budget, or an object has the same key twice (parsers differ in which of
 * two equal keys they use). Reads the raw bytes once and stops at the first flaw, so the cost is bounded by the budget
 * and one pass over the bytes for any text. A text that is not JSON may have no flaw.
 */
export const scanJson = (bytes: Uint8Array, budget: JsonBudget): JsonFlaw | undefined =>
  new JsonScanner(budget).scan(bytes)
