/** C0, DEL and C1: none of them belongs into a header, and U+0000 can't be stored as text. */
const CONTROL = /[\u0000-\u001f\u007f-\u009f]+/g

/** The beginning of a text, `limit` UTF-16 units at most, with no character cut in two. */
const beginning = (text: string, limit: number): string =>
  text.length <= limit ? text : text.slice(0, limit).replace(/[\ud800-\udbff]$/, "")

/** Text from a header: one line, well-formed, with no control characters, `limit` characters at most. */
export const headerText = (text: string, limit: number): string =>
  // Cut generously first, so that the work does not grow with what is thrown away.
  beginning(
    beginning(text, limit * 4)
      .toWellFormed()
      .replace(CONTROL, " ")
      .trim(),
    limit
  ).trimEnd()

/** Text of a body: well-formed, without U+0000, `limitBytes` bytes of UTF-8 at most. It is cut without a mark. */
export const bodyText = (text: string, limitBytes: number): string => {
  const clean = beginning(text, limitBytes).toWellFormed().replaceAll("\u0000", "")
  const bytes = new TextEncoder().encode(clean)
  if (bytes.length <= limitBytes) return clean
  let end = limitBytes
  // Not in the middle of a character: its later bytes are 10xxxxxx.
  while (end > 0 && (bytes[end]! & 0xc0) === 0x80) end--
  return new TextDecoder().decode(bytes.subarray(0, end))
}
