import { Schema } from "effect"
import { RESERVED_NAMES, SERVICE_NAMES } from "./ReservedNames.ts"

/** RFC 5321, section 4.5.3.1.1. */
const LIMIT = 64
/** A dot-atom (RFC 5322, section 3.2.3) without `+`, which marks a tag on inbound mail and never a mailbox. */
const PATTERN = /^[A-Za-z0-9!#$%&'*/=?^_`{|}~-]+(?:\.[A-Za-z0-9!#$%&'*/=?^_`{|}~-]+)*$/u

/** The local part of a mailbox address, in any case. `fold` returns the form that is stored. */
export const LocalPart = Schema.String.check(
  Schema.isMaxLength(LIMIT),
  Schema.isPattern(PATTERN, { expected: "a dot-atom of 1 to 64 characters without a plus sign" })
)

export const fold = (localPart: string): string => localPart.toLowerCase()

/**
 * Digits and signs that look like a letter; also, rn looks like m and vv like w. `1`, `|` and `!` may stand for i or l,
 * so skeletons treat i as l.
 */
const LOOKALIKES: Readonly<Record<string, string>> = {
  "0": "o",
  "1": "l",
  "2": "z",
  "3": "e",
  "4": "a",
  "5": "s",
  "6": "b",
  "7": "t",
  "8": "b",
  "9": "g",
  "|": "l",
  "!": "l",
  $: "s"
}
const LOOKALIKE = /[0-9|!$]|rn|vv/

/** Returns the letters and digits only: separators between words do not make another name. */
const bare = (text: string): string => text.replaceAll(/[^a-z0-9]/g, "")

/** Returns a form that is equal for names that look alike. */
const skeleton = (text: string): string =>
  bare(text.replaceAll(/[0-9|!$]/g, (character) => LOOKALIKES[character] ?? character))
    .replaceAll("i", "l")
    .replaceAll("rn", "m")
    .replaceAll("vv", "w")

const NAMES: ReadonlySet<string> = new Set(Object.values(RESERVED_NAMES).flat())
const NAME_SKELETONS: ReadonlySet<string> = new Set([...NAMES].map(skeleton))
const SERVICE_SKELETONS = SERVICE_NAMES.map(skeleton)

const SEPARATOR = /[._-]/

/** `whole` is the skeleton of the name. */
const isOfService = (folded: string, whole: string): boolean => {
  const words = SEPARATOR.test(folded) ? folded.split(SEPARATOR).map(skeleton) : []
  return SERVICE_SKELETONS.some(
    (name) =>
      whole === name ||
      words.includes(name) ||
      (whole.startsWith(name) && NAME_SKELETONS.has(whole.slice(name.length))) ||
      (whole.endsWith(name) && NAME_SKELETONS.has(whole.slice(0, -name.length)))
  )
}

/**
 * Whether a local part, in any case, is reserved for the operator of the domain: it is one of `RESERVED_NAMES`, looks
 * like one, or contains the name of the service.
 */
export const isReserved = (localPart: string): boolean => {
  const folded = fold(localPart)
  const whole = skeleton(folded)
  if (NAMES.has(bare(folded)) || isOfService(folded, whole)) return true
  // A name without letters is a number, and a name without lookalikes reads as it is written: mall is not mail.
  return /[a-z]/.test(folded) && LOOKALIKE.test(folded) && NAME_SKELETONS.has(whole)
}
