import { ByteBudget } from "@agentos/core"

/** The first block is for the many small mails. */
const FIRST_BLOCK_BYTES = 16 * 1024
const BLOCK_BYTES = 128 * 1024

/**
 * Blocks of earlier messages, up to 8 MiB, which no budget counts: with new ones for each, V8 would collect all garbage every few
 * large mails.
 */
const spareBlocks: Array<Buffer> = []
const SPARE_BLOCKS_MAX = 64

/** The last part of a budget is reserved for small messages, so that large and slow ones do not block them. */
const SMALL_MESSAGE_BYTES = 256 * 1024
const RESERVED_SHARE = 1 / 8

/**
 * Bounds the messages being received, in number and in memory (counted by capacity). A budget `within` another
 * uses both, so that one sender's share is part of the whole; the whole uses the process's memory budget.
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

  /** Bytes reserved now. */
  get bytes(): number {
    return this.#memory.usedBytes
  }

  /** True if no message is being received. */
  get isUnused(): boolean {
    return this.#messages === 0
  }

  /** Returns whether a message of this size could be received now. */
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

  /** Reserves bytes for a message that has already reserved `held` bytes. */
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
 * One message while it arrives. Its bytes are copied into blocks, because many tiny chunks take a hundred times
 * their size if kept as they are.
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

  /** Appends a copy. Returns false if there is no memory for it: the mail is then incomplete. */
  append(chunk: Uint8Array): boolean {
    if (this.#released) return false
    for (let taken = 0; taken < chunk.length;) {
      let block = this.#blocks.at(-1)
      if (block === undefined || this.#used === block.length) {
        const bytes = block === undefined ? FIRST_BLOCK_BYTES : BLOCK_BYTES
        if (!this.#reserve(bytes, this.#capacity)) return false
        this.#capacity += bytes
        block = (bytes === BLOCK_BYTES ? spareBlocks.pop() : undefined) ?? Buffer.allocUnsafeSlow(bytes)
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

  /** Returns the whole mail in one piece and empties the blocks. Its memory stays reserved until `release`. */
  take(): Uint8Array {
    const whole = Buffer.concat(this.#blocks, this.#size)
    this.#empty()
    return whole
  }

  #empty(): void {
    const room = SPARE_BLOCKS_MAX - spareBlocks.length
    spareBlocks.push(...this.#blocks.slice(1, 1 + room))
    this.#blocks = []
  }

  /** Releases the memory. Idempotent. */
  release(): void {
    if (this.#released) return
    this.#released = true
    this.#empty()
    this.#free(this.#capacity)
  }
}
