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
}

/** The first violation of a JSON text: path (`to.0`, empty for the whole text) and what is wrong there. */
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

/** Returns the position of the closing quote, or `end` if there is none before it. */
const closingQuote = (bytes: Uint8Array, start: number, end: number): number => {
  let position = start
  while (position < end) {
    const near = Math.min(position + SEARCHED_HERE_BYTES, end)
    while (position < near) {
      const byte = bytes[position]
      if (byte === QUOTE) return position
      position += byte === BACKSLASH ? 2 : 1
    }
    const quote = bytes.indexOf(QUOTE, position)
    if (quote === -1 || quote >= end) return end
    if (backslashesBefore(bytes, quote, position) % 2 === 0) return quote
    position = quote + 1
  }
  return end
}

/** Returns the key between two quotes; undefined if it is not a JSON string. */
const readKey = (bytes: Uint8Array, start: number, end: number): string | undefined => {
  const written = decoder.decode(bytes.subarray(start, end))
  if (!written.includes("\\")) return written
  try {
    return String(JSON.parse(`"${written}"`))
  } catch {
    return undefined
  }
}

/** One pass over a text. */
class Scan {
  readonly #bytes: Uint8Array
  readonly #budget: JsonBudget
  readonly #levels: Array<Level> = []
  #elements = 0
  #keys = 0

  constructor(bytes: Uint8Array, budget: JsonBudget) {
    this.#bytes = bytes
    this.#budget = budget
  }

  /** Returns the first flaw; undefined at the end of the text, or where it stops being JSON. */
  run(): JsonFlaw | undefined {
    const bytes = this.#bytes
    let position = 0
    while (position < bytes.length) {
      const byte = bytes[position]
      switch (byte) {
        case QUOTE: {
          const string = this.#readString(position + 1)
          if (typeof string !== "number") return string
          position = string
          break
        }
        case OPEN_ARRAY:
        case OPEN_OBJECT: {
          const flaw = this.#open(byte === OPEN_OBJECT)
          if (flaw !== undefined) return flaw
          break
        }
        case COMMA: {
          const flaw = this.#goOn()
          if (flaw !== undefined) return flaw
          break
        }
        case CLOSE_ARRAY:
        case CLOSE_OBJECT:
          this.#levels.pop()
          // JSON ends with its one value, and JSON.parse refuses everything after it but white space.
          if (this.#levels.length === 0) return undefined
          break
        default:
          break
      }
      position++
    }
    return undefined
  }

  /** Returns the position of the closing quote, or a flaw if the string exceeds its budget. */
  #readString(start: number): number | JsonFlaw | undefined {
    const level = this.#levels.at(-1)
    const { keyBytes, stringBytes } = this.#budget
    const isKey = level?.keys !== undefined && level.expectsKey
    const limitBytes = isKey ? keyBytes : stringBytes
    const searchEnd = Math.min(this.#bytes.length, start + limitBytes + 1)
    const end = closingQuote(this.#bytes, start, searchEnd)
    if (end === searchEnd) {
      if (end === this.#bytes.length) return undefined
      return isKey
        ? this.#flawAround(`has a property name longer than ${limitBytes} bytes`)
        : this.#flaw(`must have at most ${limitBytes} bytes`)
    }
    if (!isKey) return end
    const key = readKey(this.#bytes, start, end)
    if (key === undefined) return undefined
    level.step = key
    level.expectsKey = false
    if (level.keys.has(key)) return this.#flaw("appears twice in one object")
    level.keys.add(key)
    return end
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
export const scanJson = (bytes: Uint8Array, budget: JsonBudget): JsonFlaw | undefined => new Scan(bytes, budget).run()
