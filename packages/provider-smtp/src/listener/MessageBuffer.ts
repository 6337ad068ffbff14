/** Blocks grow from the first size, for the many small mails, to the last. */
const FIRST_BLOCK_BYTES = 16 * 1024
const LAST_BLOCK_BYTES = 1024 * 1024

/**
 * The memory that mails being received share. What it gives out is counted by capacity, so the bound is a real one.
 * A budget `within` another gives out of that one: the share that one sender may take of the whole.
 */
export class BufferBudget {
  readonly #bytesMax: number
  readonly #messagesMax: number
  readonly #within: BufferBudget | undefined
  #bytes = 0
  #messages = 0

  constructor(bytesMax: number, messagesMax: number, within?: BufferBudget) {
    this.#bytesMax = bytesMax
    this.#messagesMax = messagesMax
    this.#within = within
  }

  /** Bytes given out at present. */
  get bytes(): number {
    return this.#bytes
  }

  /** Whether no mail has a place at present. */
  get isUnused(): boolean {
    return this.#messages === 0
  }

  /** Whether a mail of that size could be received at this moment. */
  admits(bytes: number): boolean {
    return (
      this.#messages < this.#messagesMax &&
      this.#bytes + bytes <= this.#bytesMax &&
      (this.#within === undefined || this.#within.admits(bytes))
    )
  }

  /** A place for one mail, or undefined when there are too many. It is to be released. */
  open(): MessageBuffer | undefined {
    if (!this.admits(0)) return undefined
    this.#enter()
    return new MessageBuffer(
      (bytes) => this.#reserve(bytes),
      (bytes) => this.#leave(bytes)
    )
  }

  #enter(): void {
    this.#messages++
    if (this.#within !== undefined) this.#within.#enter()
  }

  #reserve(bytes: number): boolean {
    if (this.#bytes + bytes > this.#bytesMax) return false
    if (this.#within !== undefined && !this.#within.#reserve(bytes)) return false
    this.#bytes += bytes
    return true
  }

  #leave(bytes: number): void {
    this.#bytes -= bytes
    this.#messages--
    if (this.#within !== undefined) this.#within.#leave(bytes)
  }
}

/**
 * One mail while it arrives. What arrives is copied into blocks of its own: kept as it comes, a mail of many
 * tiny pieces (the server hands over each line with a doubled dot by itself) takes a hundred times its size.
 */
export class MessageBuffer {
  readonly #reserve: (bytes: number) => boolean
  readonly #free: (bytes: number) => void
  #blocks: Array<Buffer> = []
  #used = 0
  #size = 0
  #capacity = 0
  #released = false

  constructor(reserve: (bytes: number) => boolean, free: (bytes: number) => void) {
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
        if (!this.#reserve(bytes)) return false
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
