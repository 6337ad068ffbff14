/** Three bytes become four characters of base64. */
const GROUP = 3

/** A constant part, by how many of its first bytes belong to a group that begins before it. */
interface Part {
  readonly head: Uint8Array
  /** The base64 of all whole groups after the head. */
  readonly body: string
  /** The bytes of the group that the part does not complete. */
  readonly tail: Uint8Array
}

const cut = (bytes: Buffer, headLength: number): Part => {
  const tailLength = (bytes.length - headLength) % GROUP
  const end = bytes.length - tailLength
  return {
    head: bytes.subarray(0, headLength),
    body: bytes.toString("base64", headLength, end),
    tail: bytes.subarray(end)
  }
}

/**
 * Prepares texts that have constant parts, with a variable ASCII text between each two. The result returns the base64 of
 * such a text. It encodes the constant parts once, and for each text only what varies.
 */
export const make = (constants: ReadonlyArray<string>): ((variables: ReadonlyArray<string>) => string) => {
  const parts = constants.map((text) => {
    const bytes = Buffer.from(text)
    // Its head would need bytes of the part after it.
    if (bytes.length < GROUP) throw new Error(`a constant part has fewer than ${GROUP} bytes: ${text}`)
    const cuts: Array<Part | undefined> = []
    return (headLength: number) => (cuts[headLength] ??= cut(bytes, headLength))
  })
  const first = parts[0]?.(0)
  if (first === undefined) throw new Error("a template needs a constant part")

  return (variables) => {
    let text = first.body
    let { tail } = first
    for (const [place, variable] of variables.entries()) {
      const length = tail.length + variable.length
      const next = parts[place + 1]!((GROUP - (length % GROUP)) % GROUP)
      const bytes = Buffer.allocUnsafe(length + next.head.length)
      bytes.set(tail)
      bytes.write(variable, tail.length, "latin1")
      bytes.set(next.head, length)
      text += bytes.toString("base64") + next.body
      tail = next.tail
    }
    return tail.length === 0 ? text : text + Buffer.from(tail).toString("base64")
  }
}
