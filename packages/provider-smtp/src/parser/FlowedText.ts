const SIGNATURE = "-- "

interface Line {
  /** How many quotes the line is in. */
  readonly depth: number
  readonly text: string
}

/**
 * Reads a line of format=flowed (RFC 3676, section 4). Marks with a space between them are several quotes, although by
 * the letter of the RFC the second would be text: many programs write them so.
 */
const readLine = (line: string): Line => {
  let depth = 0
  let at = 0
  while (line[at] === ">") {
    depth++
    at++
    if (line[at] === " " && line[at + 1] === ">") at++
  }
  return { depth, text: line[at] === " " ? line.slice(at + 1) : line.slice(at) }
}

const written = (depth: number, text: string): string => {
  if (depth > 0) return text === "" ? ">".repeat(depth) : `${">".repeat(depth)} ${text}`
  // Otherwise the text of the author would be a quote.
  return text.startsWith(">") ? ` ${text}` : text
}

/**
 * Joins the lines of each paragraph of format=flowed (RFC 3676). A paragraph ends where the depth of quotes changes, at
 * an empty line and before a signature, also if its last line is flowed.
 */
export const unflow = (flowed: string, isDelSp: boolean): string => {
  const lines: Array<string> = []
  let paragraph: Array<string> = []
  let depth = 0
  const end = (): void => {
    if (paragraph.length > 0) lines.push(written(depth, paragraph.join("")))
    paragraph = []
  }
  for (const each of flowed.split(/\r?\n/)) {
    const line = readLine(each)
    const isSignature = line.text === SIGNATURE
    if (line.depth !== depth || line.text === "" || isSignature) {
      trimLast(paragraph)
      end()
    }
    depth = line.depth
    const isFlowed = line.text.endsWith(" ") && !isSignature
    paragraph.push(isFlowed && isDelSp ? line.text.slice(0, -1) : line.text)
    if (!isFlowed) end()
  }
  end()
  return lines.join("\n")
}

/** Removes the space of a flowed line that no line follows. */
const trimLast = (paragraph: Array<string>): void => {
  const last = paragraph.pop()
  if (last !== undefined) paragraph.push(last.trimEnd())
}
