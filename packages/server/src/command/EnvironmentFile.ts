const LINE = /^(?:export\s+)?([A-Za-z_]\w*)\s*=(.*)$/
const QUOTED = /^(["'])(.*)\1$/

/**
 * Reads the variables of an environment file, as systemd and Docker do: one on each line, with a value that ends with the
 * line. A `#` begins a comment only at the beginning of a line. Quotes around a value are removed, as systemd does.
 * Also returns the numbers of the lines that it can't read.
 */
export const parseEnvironment = (text: string) => {
  const variables = new Map<string, string>()
  const unreadable: Array<number> = []
  for (const [index, line] of text.split(/\r?\n/).entries()) {
    const content = line.trim()
    if (content === "" || content.startsWith("#")) continue
    const [, name, value = ""] = LINE.exec(content) ?? []
    if (name === undefined) unreadable.push(index + 1)
    else variables.set(name, value.trim().replace(QUOTED, "$2"))
  }
  return { variables, unreadable }
}
