import type { Random } from "../support/Random.ts"

export type Json = null | boolean | number | string | ReadonlyArray<Json> | { readonly [key: string]: Json }

/** Texts that break parsers, stores, mail headers and terminals. */
export const ODD_TEXTS: ReadonlyArray<string> = [
  "",
  " ",
  "\u0000",
  "a\r\nBcc: victim@elsewhere.example",
  "a\nb",
  "\u001b]0;title\u0007\u001b[31m",
  "\u202e\u2066moc.elgoog\u2069",
  "\ud800",
  "\udc00x",
  "\ufeffBOM",
  "\u2028\u2029",
  "ﷺ".repeat(40),
  "👩‍👩‍👧‍👦".repeat(20),
  "e\u0301".repeat(50),
  "'; drop table messages; --",
  "{{constructor.constructor('return process')()}}",
  "<script>alert(1)</script><img src=x onerror=alert(1)>",
  "%00%0d%0a%2e%2e%2f",
  "$(id) `id` ${7*7} %s%n",
  "__proto__",
  "constructor",
  "toString",
  "null",
  "-0",
  "1e999",
  "9007199254740993",
  "xn--80ak6aa92e.example",
  "ａｄｍｉｎ",
  "ı".repeat(8),
  "ß".repeat(64)
]

const ODD_NUMBERS: ReadonlyArray<number> = [0, -0, -1, 1.5, 1e21, 2 ** 31, 2 ** 53, -(2 ** 63), 5e-324]
const ODD_LENGTHS: ReadonlyArray<number> = [63, 64, 65, 128, 129, 255, 256, 998, 999, 1_001, 4_096, 4_097]
/** Used rarely, because they take long. */
const LARGE_LENGTHS: ReadonlyArray<number> = [16 * 1024, 64 * 1024, 250 * 1024, 300 * 1024]

export const chance = (random: Random, oneIn: number): boolean => random.integer(oneIn) === 0

export const oddText = (random: Random): string => {
  if (chance(random, 300))
    return random.pick(ODD_TEXTS.slice(4)).repeat(8).slice(0, 8) + "x".repeat(random.pick(LARGE_LENGTHS))
  if (chance(random, 6))
    return random.pick(["a", "é", "\u{1F600}", "\\", '"', "\u0001"]).repeat(random.pick(ODD_LENGTHS))
  return random.pick(ODD_TEXTS)
}

export const oddJson = (random: Random): Json => {
  const kinds: ReadonlyArray<() => Json> = [
    () => null,
    () => chance(random, 2),
    () => random.pick(ODD_NUMBERS),
    () => oddText(random),
    () => [],
    () => ({}),
    () => Array.from({ length: random.integer(80) }, () => random.integer(3)),
    () => nested(random.integer(40)),
    () => Object.fromEntries(Array.from({ length: random.integer(60) }, (_, index) => [`x${index}`, 0])),
    () => JSON.parse('{"__proto__":{"isAdmin":true},"constructor":{"prototype":{}}}') as Json
  ]
  return random.pick(kinds)()
}

const nested = (depth: number): Json =>
  depth === 0 ? 0 : depth % 2 === 0 ? [nested(depth - 1)] : { a: nested(depth - 1) }

/** Changes one place of a JSON value: replaces, removes or adds something. */
export const mutateJson = (random: Random, value: Json): Json => {
  if (Array.isArray(value)) {
    const items = value as ReadonlyArray<Json>
    if (items.length === 0 || chance(random, 3)) return [...items, oddJson(random)]
    const place = random.integer(items.length)
    if (chance(random, 4)) return Array.from({ length: 2 + random.integer(100) }, () => items[place]!)
    return items.map((item, index) => (index === place ? mutateJson(random, item) : item))
  }
  if (typeof value === "object" && value !== null) {
    const entries = Object.entries(value)
    const place = random.integer(entries.length + 1)
    const entry = entries[place]
    if (entry === undefined)
      return { ...value, [random.pick(["extra", "__proto__", "", "a.b", "mailboxID"])]: oddJson(random) }
    const others = entries.filter((_, index) => index !== place)
    if (chance(random, 5)) return Object.fromEntries(others)
    if (chance(random, 8)) return Object.fromEntries([...others, [entry[0].toUpperCase(), entry[1]]])
    return Object.fromEntries([...others, [entry[0], mutateJson(random, entry[1])]])
  }
  if (typeof value === "string" && value !== "" && chance(random, 3)) return mutateText(random, value)
  return oddJson(random)
}

/** Changes the characters of a text: cuts, repeats, swaps, inserts. */
export const mutateText = (random: Random, text: string): string => {
  const at = random.integer(text.length + 1)
  const to = at + random.integer(Math.min(16, text.length - at) + 1)
  const [head, middle, tail] = [text.slice(0, at), text.slice(at, to), text.slice(to)]
  const changes: ReadonlyArray<() => string> = [
    () => head,
    () => head + tail,
    () => head + middle + middle + tail,
    () => head + String.fromCharCode(random.integer(256)) + tail,
    () =>
      head + random.pick(["\u0000", "\r\n", "\t", " ", ",", '"', "{", "[", "/*", "//", "\ufeff", "\\u", "}"]) + tail,
    () => head + middle.toUpperCase() + tail,
    () => tail + head
  ]
  return random.pick(changes)()
}

/** Applies a change up to `most` times, rarely more than once. */
export const several = <A>(random: Random, most: number, value: A, change: (value: A) => A): A => {
  let changed = value
  for (let times = 0; times < most && (times === 0 || chance(random, 2)); times++) changed = change(changed)
  return changed
}

/** The UTF-8 bytes of a text as latin1. A lone surrogate becomes U+FFFD. */
export const bytesOf = (text: string): string => Buffer.from(text, "utf8").toString("latin1")

export const randomUuid = (random: Random): string => {
  const hex = Array.from({ length: 32 }, () => random.integer(16).toString(16)).join("")
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-7${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20)}`
}
