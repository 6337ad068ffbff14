/** C0 and C1 control characters but line and tab: they could rewrite what is on the screen. */
const CONTROL = /(?![\t\n])\p{Cc}/gu
/**
 * What is not seen, or turns the direction of text: text could read as another, or hide one. Selectors of emoji stay, and
 * single joiners among characters beyond ASCII, which scripts and emoji need.
 */
const UNSEEN = new RegExp(
  [
    "(?:(?![\\u200C\\u200D]|[\\uFE0E\\uFE0F])[\\p{Cf}\\p{Default_Ignorable_Code_Point}]",
    "(?<!\\p{Extended_Pictographic}|[0-9#*])[\\uFE0E\\uFE0F]",
    "(?<=[\\0-\\x7F\\u200C\\u200D])[\\u200C\\u200D]",
    "[\\u200C\\u200D](?![^\\0-\\x7F\\u200C\\u200D]))+"
  ].join("|"),
  "gu"
)
const BREAK = /[\t\n\u2028\u2029]+/g

/** Text of somebody else's for a terminal: without control and invisible characters, lines and tabs kept. */
export const plain = (text: string): string =>
  text.replaceAll("\r\n", "\n").replaceAll(CONTROL, "\ufffd").replaceAll(UNSEEN, "\ufffd")

/** UTF-16 code units as JSON escapes. */
const escaped = (characters: string): string =>
  Array.from({ length: characters.length }, (_, index) => characters.charCodeAt(index))
    .map((unit) => `\\u${unit.toString(16).padStart(4, "0")}`)
    .join("")

/** A value as JSON, in which the same characters are written as escapes. */
export const plainJson = (value: unknown, indent?: number): string =>
  JSON.stringify(value, undefined, indent).replaceAll(CONTROL, escaped).replaceAll(UNSEEN, escaped)

/** Text of somebody else's for a terminal, on one line. */
export const plainLine = (text: string): string => plain(text).replaceAll(BREAK, " ")

/** Characters that take two columns (Unicode East Asian Width W and F, roughly) and those that take none. */
const WIDE =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\u33ff\u3400-\u4dbf\u4e00-\u9fff\ua000-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{1f300}-\u{1faff}\u{20000}-\u{3fffd}]/u
const NARROWEST = /[\p{Mn}\p{Me}\p{Cf}]/u

const widthOf = (character: string): number => (NARROWEST.test(character) ? 0 : WIDE.test(character) ? 2 : 1)

/** Columns that a line takes on a terminal. */
export const displayWidth = (line: string): number => {
  let width = 0
  for (const character of line) width += widthOf(character)
  return width
}

/** The line cut to so many columns, with an ellipsis where something is missing. */
export const truncate = (line: string, columns: number): string => {
  if (displayWidth(line) <= columns) return line
  let width = 0
  let kept = ""
  for (const character of line) {
    width += widthOf(character)
    if (width > columns - 1) break
    kept += character
  }
  return `${kept}…`
}
