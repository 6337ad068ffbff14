import { Clock, Effect, Random, Result, Schema, SchemaTransformation } from "effect"
import { Hex } from "effect/encoding"

/** A UUID with hyphens. It is stored and returned in lower case. */
export const Uuid = Schema.String.check(Schema.isUUID())
export type Uuid = string

/** The UUID of nothing (RFC 9562, section 5.9). */
export const NIL: Uuid = "00000000-0000-0000-0000-000000000000"

/** A UUID in a client's request. Upper case is accepted and converted (RFC 9562, section 4). */
export const GivenUuid = Uuid.pipe(Schema.decodeTo(Schema.String, SchemaTransformation.toLowerCase()))

/** The random part of a version 7 UUID: 74 bits (RFC 9562, section 5.7). */
const RANDOM_BITS = 74n
const RANDOM_LIMIT = 1n << RANDOM_BITS

/**
 * Returns the version 7 UUID of a timestamp and 74 random bits (RFC 9562, section 5.7). UUIDs sort as text by
 * `millis`, then by `random`.
 */
export const fromParts = (millis: number, random: bigint): Uuid => {
  const high = random >> 62n
  const low = random & ((1n << 62n) - 1n)
  const bits = (BigInt(millis) << 80n) | (7n << 76n) | (high << 64n) | (2n << 62n) | low
  return hyphenate(bits.toString(16).padStart(32, "0"))
}

/** Returns the timestamp and the random bits of a version 7 UUID. */
export const toParts = (uuid: Uuid): { readonly millis: number; readonly random: bigint } => {
  const bits = BigInt(`0x${uuid.replaceAll("-", "")}`)
  const high = (bits >> 64n) & 0xfffn
  return { millis: Number(bits >> 80n), random: (high << 62n) | (bits & ((1n << 62n) - 1n)) }
}

/**
 * Returns a version 7 UUID for `millis` that is greater than `last`. If `last` has the same millisecond or a later one,
 * increments the random part of `last`.
 */
export const after = (last: Uuid | undefined, millis: number, random: bigint): Uuid => {
  if (last === undefined) return fromParts(millis, random)
  const previous = toParts(last)
  if (millis > previous.millis) return fromParts(millis, random)
  const next = previous.random + 1n
  return next < RANDOM_LIMIT ? fromParts(previous.millis, next) : fromParts(previous.millis + 1, 0n)
}

/** Returns 73 random bits. The top bit stays clear, to leave room for increments within a millisecond. */
export const randomBits: Effect.Effect<bigint> = Effect.map(
  Effect.all([Random.nextIntBetween(0, 2 ** 24), Random.nextIntBetween(0, 2 ** 24), Random.nextIntBetween(0, 2 ** 25)]),
  ([a, b, c]) => (BigInt(a) << 49n) | (BigInt(b) << 25n) | BigInt(c)
)

/** Three hexadecimal digits of every 12 bits. */
const DIGITS = Array.from({ length: 2 ** 12 }, (_, bits) => bits.toString(16).padStart(3, "0"))
/** Returns the three digits of the lowest 12 bits. */
const digits = (bits: number): string => DIGITS[bits & 0xfff]!

/** The 12 bits after the version (RFC 9562, rand_a), which count within a millisecond. */
const COUNTER_MAX = 0xfff
/** The last millisecond of `generate`, its text up to the version, and the last counter. */
const latest = { millis: Number.NaN, text: "", counter: 0 }

/** Draws the counter of a new millisecond with its top bit clear, and increments it within one. */
const prefix = (millis: number, drawn: number): string => {
  if (latest.millis === millis) latest.counter = Math.min(latest.counter + 1, COUNTER_MAX)
  else {
    const time = millis.toString(16).padStart(12, "0")
    latest.millis = millis
    latest.text = `${time.slice(0, 8)}-${time.slice(8)}-7`
    latest.counter = drawn
  }
  return latest.text + digits(latest.counter)
}

/**
 * Returns a new version 7 UUID for `millis` with 73 bits of a random source. It is an identifier, not a secret. Within a
 * millisecond, the first 2,048 of a process sort in the order in which they were made (RFC 9562, section 6.2, method 1).
 * Every request has one: from a table of digits, it takes a fraction of the time of `fromParts`.
 */
export const generate = (random: typeof Random.Random.Service, millis: number): Uuid => {
  const first = Math.floor(random.nextDoubleUnsafe() * 2 ** 24)
  const second = Math.floor(random.nextDoubleUnsafe() * 2 ** 24)
  const third = Math.floor(random.nextDoubleUnsafe() * 2 ** 25)
  const low = (0x8000 | ((first & 0x1fff) << 1) | (second >>> 23)).toString(16)
  const rest = digits(second >>> 11) + digits((second << 1) | (third >>> 24)) + digits(third >>> 12) + digits(third)
  return `${prefix(millis, first >>> 13)}-${low}-${rest}`
}

/** Returns a new version 7 UUID. It is an identifier, not a secret. */
export const next: Effect.Effect<Uuid> = Effect.withFiber((fiber) =>
  Effect.succeed(generate(fiber.getRef(Random.Random), Math.floor(fiber.getRef(Clock.Clock).currentTimeMillisUnsafe())))
)

const hyphenate = (hex: string): Uuid =>
  `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`

export const toBytes = (uuid: Uuid): Uint8Array => Result.getOrThrow(Hex.decode(uuid.replaceAll("-", "")))

export const fromBytes = (bytes: Uint8Array): Uuid => hyphenate(Hex.encode(bytes))
