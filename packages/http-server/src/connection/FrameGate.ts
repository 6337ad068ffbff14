import type { Duplex } from "node:stream"

/** Maximum number of fragments of one message. No common client sends more than one for 32 KiB. */
export const FRAGMENTS_MAX = 16
/** Maximum number of socket reads in which one frame arrives, for the library that joins them. */
export const READS_PER_FRAME_MAX = 256

const FINAL = 0x80
const OPCODE = 0x0f
/** Opcodes from this one on are of control frames. It is that of the close frame. */
const CLOSE_OPCODE = 0x08
const LENGTH = 0x7f
const MASK_BYTES = 4
const LENGTH_OF_16_BITS = 126
const LENGTH_OF_64_BITS = 127

/** What happens to a frame: it is passed on, or waits until `release`, or ends the reading of its socket. */
export type FrameVerdict = "admitted" | "held" | "refused"

export interface FrameLimits {
  /** Decides about the next frame, of any kind: a message, a fragment of one, a ping, a pong or a close frame. */
  readonly take: () => FrameVerdict
  /** Called once, when a frame is refused, or a message has too many fragments. Nothing is passed on afterwards. */
  readonly refused: () => void
}

/**
 * Counts the frames of one WebSocket before they are parsed, by their headers alone (RFC 6455, section 5.2). The library
 * reports complete messages, pings and pongs, and parses everything that one read of the connection contains: 10,000 empty
 * frames. Must be created at once when the library has taken the connection.
 *
 * Frames that are held stay in memory, at most one read of the connection. The owner must pause reading meanwhile.
 */
export class FrameGate {
  readonly #pass: (bytes: Buffer) => void
  readonly #limits: FrameLimits
  #held: Buffer | undefined
  #isShut = false
  /** Whether the current frame is a close frame, the last one of a peer. */
  #isClosing = false
  /** Bytes of the current frame after its first two, as far as they are known: more length, the mask and the payload. */
  #left = 0
  /** Bytes of the length that are still to come, and the length so far. */
  #lengthBytesLeft = 0
  #length = 0
  #expectsSecondByte = false
  #fragments = 0

  constructor(stream: Duplex, limits: FrameLimits) {
    const [receive] = stream.listeners("data")
    if (receive === undefined) throw new Error("nothing reads the connection")
    this.#limits = limits
    this.#pass = (bytes) => void receive.call(stream, bytes)
    stream.off("data", receive as (chunk: Buffer) => void)
    stream.on("data", (chunk: Buffer) => this.#receive(chunk))
    // The library would parse the unread rest, without these limits.
    stream.prependListener("close", () => {
      this.#shut()
      stream.read()
    })
  }

  /** Passes on the frames that were held, as far as they are admitted now. */
  release(): void {
    const held = this.#held
    if (held === undefined) return
    this.#held = undefined
    this.#receive(held)
  }

  get #isBetweenFrames(): boolean {
    return this.#left === 0 && this.#lengthBytesLeft === 0 && !this.#expectsSecondByte
  }

  #receive(chunk: Buffer): void {
    if (this.#isShut) return
    if (this.#held !== undefined) {
      this.#held = Buffer.concat([this.#held, chunk])
      return
    }
    const end = this.#admit(chunk)
    // Set first: passing frames on may end a pause, which releases the held frames.
    if (this.#isClosing && this.#isBetweenFrames) this.#shut()
    if (end < chunk.length && !this.#isShut) this.#held = chunk.subarray(end)
    if (end > 0) this.#pass(end === chunk.length ? chunk : chunk.subarray(0, end))
  }

  /** Returns the position of the first frame that is not admitted, or the end. */
  #admit(chunk: Buffer): number {
    let position = 0
    while (position < chunk.length) {
      if (this.#left > 0) {
        const passed = Math.min(this.#left, chunk.length - position)
        this.#left -= passed
        position += passed
      } else if (this.#expectsSecondByte) {
        this.#beginPayload(chunk[position++]!)
      } else if (this.#lengthBytesLeft > 0) {
        this.#length = this.#length * 256 + chunk[position++]!
        if (--this.#lengthBytesLeft === 0) this.#left = MASK_BYTES + this.#length
      } else if (this.#isClosing) {
        return position
      } else {
        const verdict = this.#beginFrame(chunk[position]!)
        if (verdict !== "admitted") return position
        position++
      }
    }
    return position
  }

  #beginFrame(first: number): FrameVerdict {
    const verdict = this.#limits.take()
    if (verdict === "held") return verdict
    const opcode = first & OPCODE
    const isData = opcode < CLOSE_OPCODE
    if (isData) this.#fragments++
    if (verdict === "refused" || this.#fragments > FRAGMENTS_MAX) {
      this.#shut()
      this.#limits.refused()
      return "refused"
    }
    if (isData && (first & FINAL) !== 0) this.#fragments = 0
    this.#isClosing = opcode === CLOSE_OPCODE
    this.#expectsSecondByte = true
    return verdict
  }

  #beginPayload(second: number): void {
    const length = second & LENGTH
    this.#expectsSecondByte = false
    this.#length = 0
    if (length === LENGTH_OF_16_BITS) this.#lengthBytesLeft = 2
    else if (length === LENGTH_OF_64_BITS) this.#lengthBytesLeft = 8
    else this.#left = MASK_BYTES + length
  }

  #shut(): void {
    this.#isShut = true
    this.#held = undefined
  }
}
