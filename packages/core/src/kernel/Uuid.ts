import { Effect, Random, Result, Schema, SchemaTransformation } from "effect"
import { Hex } from "effect/encoding"
import * as Timestamp from "./Timestamp.ts"

/** A UUID with hyphens, as it is kept and told: in lower case. */
export const Uuid = Schema.String.check(Schema.isUUID())
export type Uuid = string

/** A UUID as clients may write it, in capitals too (RFC 9562, section 4); it is read in lower case. */
export const GivenUuid = Uuid.pipe(Schema.decodeTo(Schema.String, SchemaTransformation.toLowerCase()))

/** The random part of a version 7 UUID: 74 bits (RFC 9562, section 5.7). */
const RANDOM_BITS = 74n
const RANDOM_LIMIT = 1n << RANDOM_BITS

/**
 * The version 7 UUID of a moment and 74 random bits (RFC 9562, section 5.7):
 * its text order is the order of `millis`, then of `random`.
 */
export const fromParts = (millis: number, random: bigint): Uuid => {
  const high = random >> 62n
  const low = random & ((1n << 62n) - 1n)
  const bits = (BigInt(millis) << 80n) | (7n << 76n) | (high << 64n) | (2n << 62n) | low
  return hyphenate(bits.toString(16).padStart(32, "0"))
}

/** The moment and the random bits of a version 7 UUID. */
export const toParts = (uuid: Uuid): { readonly millis: number; readonly random: bigint } => {
  const bits = BigInt(`0x${uuid.replaceAll("-", "")}`)
  const high = (bits >> 64n) & 0xfffn
  return { millis: Number(bits >> 80n), random: (high << 62n) | (bits & ((1n << 62n) - 1n)) }
}

/**
 * A version 7 UUID for `millis` that is greater than `last`: when both share
 * the millisecond, the random part of `last` is counted up.
 */
export const after = (last: Uuid | undefined, millis: number, random: bigint): Uuid => {
  if (last === undefined) return fromParts(millis, random)
  const previous = toParts(last)
  if (millis > previous.millis) return fromParts(millis, random)
  const next = previous.random + 1n
  return next < RANDOM_LIMIT ? fromParts(previous.millis, next) : fromParts(previous.millis + 1, 0n)
}

/** 73 random bits: the top one stays clear, so that counting up within a millisecond has room. */
export const randomBits: Effect.Effect<bigint> = Effect.map(
  Effect.all([Random.nextIntBetween(0, 2 ** 24), Random.nextIntBetween(0, 2 ** 24), Random.nextIntBetween(0, 2 ** 25)]),
  ([a, b, c]) => (BigInt(a) << 49n) | (BigInt(b) << 25n) | BigInt(c)
)

/** A fresh version 7 UUID: an identifier, not a secret. */
export const next: Effect.Effect<Uuid> = Effect.map(Effect.all([Timestamp.now, randomBits]), ([millis, random]) =>
  fromParts(millis, random)
)

const hyphenate = (hex: string): Uuid =>
  `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`

/** The 16 bytes of a UUID. */
export const toBytes = (uuid: Uuid): Uint8Array => Result.getOrThrow(Hex.decode(uuid.replaceAll("-", "")))

/** The UUID of 16 bytes. */
export const fromBytes = (bytes: Uint8Array): Uuid => hyphenate(Hex.encode(bytes))
