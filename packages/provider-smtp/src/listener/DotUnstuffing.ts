const CR = 0x0d
const LF = 0x0a
const DOT = 0x2e

/** What the bytes so far end in: what follows depends on it. `Dot` and `DotCr` are withheld from the content. */
type Ending = "Text" | "Cr" | "LineStart" | "Dot" | "DotCr"

export interface UnstuffedChunk {
  readonly content: Buffer
  /** What follows the end of the message, once that has come. */
  readonly rest: Buffer | undefined
}

/**
 * Reads the message after DATA (RFC 5321, section 4.5.2): takes the first dot off each line that begins with one, and
 * finds the line that is a dot alone. Lines end in CRLF and in nothing else, so no other sequence with a dot in it
 * ends a message. It passes over each byte once, however the lines and the chunks are cut.
 */
export class DotUnstuffing {
  #ending: Ending = "LineStart"

  push(chunk: Buffer): UnstuffedChunk {
    // A withheld CR may come before the bytes of this chunk.
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
