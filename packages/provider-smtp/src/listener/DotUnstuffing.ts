const CR = 0x0d
const LF = 0x0a
const DOT = 0x2e

/**
 * The end of the bytes so far, on which the meaning of the next byte depends. `Dot` and `DotCr` are withheld
 * from the content.
 */
type Ending = "Text" | "Cr" | "LineStart" | "Dot" | "DotCr"

export interface UnstuffedChunk {
  readonly content: Buffer
  /** The bytes after the end of the message, once the end was reached. */
  readonly rest: Buffer | undefined
}

/**
 * Decodes the message after DATA (RFC 5321, section 4.5.2): removes the first dot of each line that begins with
 * one, and finds the line that is a single dot. Lines end only in CRLF, so no other sequence with a dot ends a
 * message. It reads each byte once or, where a line begins with a dot, twice, however lines and chunks are split.
 */
export class DotUnstuffing {
  #ending: Ending = "LineStart"

  push(chunk: Buffer): UnstuffedChunk {
    const plainEnding = endingOfPlain(this.#ending, chunk)
    if (plainEnding !== undefined) {
      this.#ending = plainEnding
      return { content: chunk, rest: undefined }
    }
    // A withheld CR may precede the bytes of this chunk.
    const content = Buffer.allocUnsafe(chunk.length + 1)
    let ending = this.#ending
    let length = 0
    for (let at = 0; at < chunk.length; at++) {
      const byte = chunk[at]!
      if (ending === "LineStart" && byte === DOT) {
        ending = "Dot"
        continue
      }
      if (ending === "Dot" && byte === CR) {
        ending = "DotCr"
        continue
      }
      if (ending === "DotCr") {
        if (byte === LF) return { content: content.subarray(0, length), rest: chunk.subarray(at + 1) }
        content[length++] = CR
      }
      const followsCr = ending === "Cr" || ending === "DotCr"
      content[length++] = byte
      ending = byte === CR ? "Cr" : byte === LF && followsCr ? "LineStart" : "Text"
    }
    this.#ending = ending
    return { content: content.subarray(0, length), rest: undefined }
  }
}

/** Returns the ending after a chunk; undefined if bytes are withheld before it, or one of its lines may begin with a dot. */
const endingOfPlain = (ending: Ending, chunk: Buffer): Ending | undefined => {
  if (ending === "Dot" || ending === "DotCr" || chunk.length === 0) return undefined
  if (chunk[0] === DOT || (chunk[0] === LF && chunk[1] === DOT) || chunk.includes("\r\n.", 0, "latin1"))
    return undefined
  const last = chunk.at(-1)
  const before = chunk.length > 1 ? chunk.at(-2) === CR : ending === "Cr"
  return last === CR ? "Cr" : last === LF && before ? "LineStart" : "Text"
}
