import { ByteBudget } from "@agentos/core"

/** Blocks grow from the first size, for the many small mails, to the last. */
const FIRST_BLOCK_BYTES = 16 * 1024
const LAST_BLOCK_BYTES = 1024 * 1024

/** The last part of a budget, for messages that need little: large ones that are slow don't keep small ones out. */
const SMALL_MESSAGE_BYTES = 256 * 1024
const RESERVED_SHARE = 1 / 8

/**
 * Bounds the messages that are being received, in number and in memory (counted by capacity). A budget `within`
 * another draws on both, so that one sender's share is part of the whole; `memory` is what the whole draws on.
 */
export class BufferBudget {
  readonly #memory: ByteBudget
  readonly #messagesMax: number
  readonly #within: BufferBudget | undefined
  #messages = 0

  constructor(bytesMax: number, messagesMax: number, within: BufferBudget | ByteBudget) {
    this.#within = within instanceof BufferBudget ? within : undefined
    this.#memory = new ByteBudget(bytesMax, within instanceof BufferBudget ? within.#memory : within)
    this.#messagesMax = messagesMax
  }

  /** Bytes reserved at present. */
  get bytes(): number {
    return this.#memory.usedBytes
  }

  /** Whether no message is being received at present. */
  get isUnused(): boolean {
    return this.#messages === 0
  }

  /** Whether a message of that size could be received at this moment. */
  admits(bytes: number): boolean {
    if (this.#messages >= this.#messagesMax || (this.#within !== undefined && !this.#within.admits(bytes))) return false
    if (!this.#reserve(bytes, 0)) return false
    this.#memory.release(bytes)
    return true
  }

  /** Opens the buffer of one message, or returns undefined if there are too many. The buffer must be released. */
  open(): MessageBuffer | undefined {
    if (!this.admits(0)) return undefined
    this.#enter()
    return new MessageBuffer(
      (bytes, held) => this.#reserve(bytes, held),
      (bytes) => this.#leave(bytes)
    )
  }

  #enter(): void {
    this.#messages++
    if (this.#within !== undefined) this.#within.#enter()
  }

  /** Reserves bytes for a message that holds `held` already. */
  #reserve(bytes: number, held: number): boolean {
    if (held + bytes > SMALL_MESSAGE_BYTES && !this.#leavesRoom(bytes)) return false
    return this.#memory.reserve(bytes)
  }

  #leavesRoom(bytes: number): boolean {
    if (this.#within !== undefined) return this.#within.#leavesRoom(bytes)
    return this.bytes + bytes <= this.#memory.limitBytes * (1 - RESERVED_SHARE)
  }

  #leave(bytes: number): void {
    this.#memory.release(bytes)
    this.#exit()
  }

  #exit(): void {
    this.#messages--
    if (this.#within !== undefined) this.#within.#exit()
  }
}

/**
 * One message while it arrives. Its bytes are copied into blocks, because many tiny pieces, kept as they come, take a
 * hundred times their size.
 */
export class MessageBuffer {
  readonly #reserve: (bytes: number, held: number) => boolean
  readonly #free: (bytes: number) => void
  #blocks: Array<Buffer> = []
  #used = 0
  #size = 0
  #capacity = 0
  #released = false

  constructor(reserve: (bytes: number, held: number) => boolean, free: (bytes: number) => void) {
    this.#reserve = reserve
    this.#free = free
  }

  /** Bytes appended so far. */
  get size(): number {
    return this.#size
  }

  /** Appends a copy. False when the memory for it is not to be had: the mail is incomplete from then on. */
  append(chunk: Uint8Array): boolean {
    if (this.#released) return false
    for (let taken = 0; taken < chunk.length;) {
      let block = this.#blocks.at(-1)
      if (block === undefined || this.#used === block.length) {
        const bytes = block === undefined ? FIRST_BLOCK_BYTES : Math.min(block.length * 2, LAST_BLOCK_BYTES)
        if (!this.#reserve(bytes, this.#capacity)) return false
        this.#capacity += bytes
        block = Buffer.allocUnsafeSlow(bytes)
        this.#blocks.push(block)
        this.#used = 0
      }
      const piece = chunk.subarray(taken, taken + block.length - this.#used)
      block.set(piece, this.#used)
      this.#used += piece.length
      taken += piece.length
    }
    this.#size += chunk.length
    return true
  }

  /** The whole mail in one piece, and nothing left in the blocks. Its memory counts until `release`. */
  take(): Uint8Array {
    const whole = Buffer.concat(this.#blocks, this.#size)
    this.#blocks = []
    return whole
  }

  /** Gives the memory back; again is as good as once. */
  release(): void {
    if (this.#released) return
    this.#released = true
    this.#blocks = []
    this.#free(this.#capacity)
  }
}
