/** C0 and C1 control characters except newline and tab. They could rewrite the screen. */
const CONTROL = /(?![\t\n])\p{Cc}/gu
/**
 * Invisible characters and characters that change the direction of text, which could disguise a text. Variation
 * selectors of emoji stay, and so do single joiners between non-ASCII characters, which scripts and emoji need.
 */
const INVISIBLE = new RegExp(
  [
    "(?:(?![\\u200C\\u200D]|[\\uFE0E\\uFE0F])[\\p{Cf}\\p{Default_Ignorable_Code_Point}]",
    "(?<!\\p{Extended_Pictographic}|[0-9#*])[\\uFE0E\\uFE0F]",
    "(?<=[\\0-\\x7F\\u200C\\u200D])[\\u200C\\u200D]",
    "[\\u200C\\u200D](?![^\\0-\\x7F\\u200C\\u200D]))+"
  ].join("|"),
  "gu"
)
const BREAK = /[\t\n\u2028\u2029]+/g

/** Makes untrusted text safe for a terminal: replaces control and invisible characters, keeps newlines and tabs. */
export const plain = (text: string): string =>
  text.replaceAll("\r\n", "\n").replaceAll(CONTROL, "\ufffd").replaceAll(INVISIBLE, "\ufffd")

/** The same, on one line. */
export const plainLine = (text: string): string => plain(text).replaceAll(BREAK, " ")

/** UTF-16 code units as JSON escapes. */
const escaped = (characters: string): string =>
  Array.from({ length: characters.length }, (_, index) => characters.charCodeAt(index))
    .map((unit) => `\\u${unit.toString(16).padStart(4, "0")}`)
    .join("")

/** Formats JSON with the same characters written as escapes. */
export const plainJson = (value: unknown, indent?: number): string =>
  JSON.stringify(value, undefined, indent).replaceAll(CONTROL, escaped).replaceAll(INVISIBLE, escaped)

/** Characters that are two columns wide (Unicode East Asian Width W and F, roughly), and characters without width. */
const WIDE =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\u33ff\u3400-\u4dbf\u4e00-\u9fff\ua000-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{1f300}-\u{1faff}\u{20000}-\u{3fffd}]/u
const ZERO_WIDTH = /[\p{Mn}\p{Me}\p{Cf}]/u

const widthOf = (character: string): number => (ZERO_WIDTH.test(character) ? 0 : WIDE.test(character) ? 2 : 1)

/** Columns of a line on a terminal. */
export const displayWidth = (line: string): number => {
  let width = 0
  for (const character of line) width += widthOf(character)
  return width
}

/** Cuts a line to a number of columns and marks the cut with an ellipsis. */
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

/** Whether a shell reads the text as one literal word. */
export const isShellWord = (text: string): boolean => /^[\w@%+=:,./-]+$/.test(text)

/** Quotes a text for a shell if necessary. */
export const shellWord = (text: string): string => (isShellWord(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`)
