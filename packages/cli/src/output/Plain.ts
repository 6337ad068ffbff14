/** C0 and C1 control characters, and what turns the direction of text: they could rewrite what is on the screen. */
const CONTROL = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g
const BREAK = /[\t\n\u2028\u2029]+/g

/** Text of somebody else's for a terminal: without control characters, lines and tabs kept. */
export const plain = (text: string): string => text.replaceAll("\r\n", "\n").replaceAll(CONTROL, "\ufffd")

/** A value as JSON, in which the same characters are written as escapes. */
export const plainJson = (value: unknown, indent?: number): string =>
  JSON.stringify(value, undefined, indent).replaceAll(
    CONTROL,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`
  )

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
