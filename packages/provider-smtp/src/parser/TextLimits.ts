/** C0, DEL and C1: they are invalid in a header, and U+0000 cannot be stored as text. */
const CONTROL = /[\u0000-\u001f\u007f-\u009f]+/g

/** Returns the beginning of a text, at most `limit` UTF-16 units, without splitting a character. */
const beginning = (text: string, limit: number): string =>
  text.length <= limit ? text : text.slice(0, limit).replace(/[\ud800-\udbff]$/, "")

/** Returns text from a header: one line, well-formed, without control characters, at most `limit` characters. */
export const headerText = (text: string, limit: number): string =>
  // Truncated generously first, so that the work does not grow with text that is dropped.
  beginning(
    beginning(text, limit * 4)
      .toWellFormed()
      .replace(CONTROL, " ")
      .trim(),
    limit
  ).trimEnd()

/** Returns text of a body: well-formed, without U+0000, at most `limitBytes` bytes of UTF-8. A cut is not marked. */
export const bodyText = (text: string, limitBytes: number): string => {
  const clean = beginning(text, limitBytes).toWellFormed().replaceAll("\u0000", "")
  const bytes = new TextEncoder().encode(clean)
  if (bytes.length <= limitBytes) return clean
  let end = limitBytes
  // Not in the middle of a character: its later bytes are 10xxxxxx.
  while (end > 0 && (bytes[end]! & 0xc0) === 0x80) end--
  return new TextDecoder().decode(bytes.subarray(0, end))
}
