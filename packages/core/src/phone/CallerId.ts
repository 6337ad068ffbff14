import { Schema } from "effect"

/**
 * Why a call has no caller's number: the caller withheld it (`anonymous`, or `restricted` by the network), or the network
 * could not pass one on (`unavailable`), or the carrier said nothing (`unknown`).
 */
export const WithheldReason = Schema.Literals(["anonymous", "restricted", "unavailable", "unknown"])
export type WithheldReason = typeof WithheldReason.Type

/** The caller of a call: a number, or an address such as `sip:alice@example.com`; or why it has none. */
export type CallerId =
  | { readonly from: string; readonly withheld: null }
  | { readonly from: null; readonly withheld: WithheldReason }

/** The reason as clients see it. */
export const fromWithheld = Schema.NullOr(WithheldReason).annotateKey({
  description:
    "Why an inbound call has no caller's number: anonymous (the caller withheld it), restricted (the network withheld it), unavailable (the network could not pass it on), unknown (the carrier did not say). Otherwise null."
})

/** The words that carriers send in place of a number, also as the user of a SIP address (RFC 3323, section 4.1.1.3). */
const WORDS: ReadonlyMap<string, WithheldReason> = new Map([
  ["anonymous", "anonymous"],
  ["restricted", "restricted"],
  ["blocked", "restricted"],
  ["private", "restricted"],
  ["withheld", "restricted"],
  ["unavailable", "unavailable"],
  ["notavailable", "unavailable"],
  ["outofarea", "unavailable"],
  ["unknown", "unknown"]
])

const KEYPAD = ["abc", "def", "ghi", "jkl", "mno", "pqrs", "tuv", "wxyz"]

/** Returns the keys of a telephone that spell a word. */
const keysOf = (word: string): string =>
  [...word].map((letter) => 2 + KEYPAD.findIndex((letters) => letters.includes(letter))).join("")

/**
 * The numbers that Twilio and other carriers send in place of a withheld one: mostly such a word on a telephone's keys. Two
 * are also seen with a digit exchanged, and 464 is one of those that Twilio listed (its support article 223179988).
 */
const NUMBERS: ReadonlyMap<string, WithheldReason> = new Map([
  ...[...WORDS].map(([word, reason]) => [keysOf(word), reason] as const),
  ["7378742883", "restricted"],
  ["8566696", "unknown"],
  ["464", "unknown"]
])

/** Spoken and dialed forms are longer than a telephone number, but no carrier's. */
const CALLER_MAX = 256
const NUMBER = /^[+0-9 ().-]+$/u
/** Matches no digit: at most a country code of North America, and zeros. */
const NO_NUMBER = /^1?0*$/u

/** The carrier may put North America's country code before it: +1 737 874 2833 spells `restricted`, and is treated as that. */
const withheldAs = (digits: string): WithheldReason | undefined =>
  NO_NUMBER.test(digits) ? "unknown" : (NUMBERS.get(digits) ?? NUMBERS.get(digits.replace(/^1/u, "")))

/** Returns the user of a SIP or client address, or the text itself. */
const userOf = (text: string): string => /^(?:sips?|tel|client):([^@;]*)/iu.exec(text)?.[1] ?? text

/**
 * Reads the caller as a carrier sends it: an empty text if it sends nothing. The result is at most `CALLER_MAX`
 * characters, without control characters.
 */
export const readCallerId = (sent: string): CallerId => {
  const from = sent
    .slice(0, CALLER_MAX)
    .toWellFormed()
    .replace(/[\u0000-\u001f\u007f]/gu, "")
    .trim()
  const withheld = NUMBER.test(from) || from === "" ? withheldAs(from.replace(/\D/gu, "")) : wordIn(from)
  return withheld === undefined ? { from, withheld: null } : { from: null, withheld }
}

const wordIn = (text: string): WithheldReason | undefined => {
  const user = userOf(text)
  // The user of an address may be a placeholder number too.
  if (user !== text && NUMBER.test(user)) return NUMBERS.get(user.replace(/\D/gu, ""))
  if (/\d/u.test(user)) return undefined
  const letters = user.toLowerCase().replace(/[^a-z]/gu, "")
  return WORDS.get(letters) ?? WORDS.get(letters.replace(/(?:number|caller|callerid|user)$/u, ""))
}

/** Returns the form in which a caller is stored: as the carrier sent it, or the reason why it is withheld. */
export const storedCaller = (sent: string): string => {
  const { from, withheld } = readCallerId(sent)
  return from ?? withheld
}

/** Whether a number in E.164 is a placeholder for a withheld one, which cannot be called. */
export const isPlaceholderNumber = (number: string): boolean => withheldAs(number.replace(/\D/gu, "")) !== undefined

/** Returns the caller of a stored call. */
export const callerOf = ({
  direction,
  fromNumber
}: {
  readonly direction: "inbound" | "outbound"
  readonly fromNumber: string
}): CallerId => (direction === "outbound" ? { from: fromNumber, withheld: null } : readCallerId(fromNumber))
