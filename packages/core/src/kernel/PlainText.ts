import { Schema } from "effect"

/** A text of at most `limit` characters that every store accepts: well-formed, without the NUL character. */
export const plainText = (limit: number) =>
  Schema.String.check(
    Schema.isMaxLength(limit),
    Schema.makeFilter((text: string) => !text.includes("\u0000") || "must not contain the NUL character"),
    Schema.makeFilter((text: string) => text.isWellFormed() || "contains invalid Unicode")
  )

/** Scripts whose spelling needs the joiners U+200C and U+200D (UAX #31, section 2.3.1). */
const JOINING =
  "[\\p{Script=Arabic}\\p{Script=Syriac}\\p{Script=Mongolian}\\p{Script=Devanagari}\\p{Script=Bengali}\\p{Script=Gurmukhi}\\p{Script=Gujarati}\\p{Script=Oriya}\\p{Script=Tamil}\\p{Script=Telugu}\\p{Script=Kannada}\\p{Script=Malayalam}\\p{Script=Sinhala}\\p{Script=Khmer}]"

/** Maps ASCII to Unicode tag characters, which are invisible. */
const tagsOf = (text: string): string =>
  Array.from(text, (character) => String.fromCodePoint(0xe0000 + character.charCodeAt(0))).join("")

/** Invisible characters that are part of something visible: emoji (UTS #51, section 1.4) and joined letters. */
const LEGITIMATE = new RegExp(
  [
    // The flags of England, Scotland and Wales: the only tag sequences that Unicode recommends. Others can hide any
    // text.
    ...["gbeng", "gbsct", "gbwls"].map((code) => `\u{1F3F4}${tagsOf(code)}\u{E007F}`),
    // Emoji presentation selectors, keycaps, and joined emoji.
    "(?<=\\p{Extended_Pictographic})[\\uFE0E\\uFE0F]",
    "(?<=[0-9#*])\\uFE0F(?=\\u20E3)",
    "(?<=[\\p{Extended_Pictographic}\\p{Emoji_Modifier}\\uFE0F])\\u200D(?=\\p{Extended_Pictographic})",
    `(?<=${JOINING})[\\u200C\\u200D](?=${JOINING})`
  ].join("|"),
  "gu"
)

/** Control characters, line separators, direction marks and all other invisible characters. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/u

/** Returns the first invisible character of a name, for example `U+202E`; undefined if the name has none. */
const unseenIn = (name: string): string | undefined => {
  const [found] = UNSEEN.exec(name.replaceAll(LEGITIMATE, "")) ?? []
  const codePoint = found?.codePointAt(0)
  return codePoint === undefined ? undefined : `U+${codePoint.toString(16).toUpperCase().padStart(4, "0")}`
}

/** A name of at most `limit` characters for display: one line without hidden or reordered text. */
export const nameText = (limit: number) =>
  plainText(limit).check(
    Schema.makeFilter((name: string) => {
      const unseen = unseenIn(name)
      return unseen === undefined || `must not contain the invisible character ${unseen}`
    })
  )
