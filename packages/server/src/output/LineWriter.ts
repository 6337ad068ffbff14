import { write, writeSync } from "node:fs"

/** How long a line may wait for others, in milliseconds: waking a thread for a write takes longer than to write a line. */
const DELAY = 10
/** Interval between reports of dropped lines, in milliseconds. */
const REPORT_INTERVAL = 1_000
/** How often a reader that is not ready is tried again, and how often the last lines are, in milliseconds. */
const RETRY_AFTER = 10
const LAST_RETRIES = 100

/** The numbers of characters that may wait for the reader. */
export interface WaitingRoom {
  /** Lines that may be dropped are dropped beyond it. */
  readonly droppable: number
  /** Every line is dropped beyond it. */
  readonly all: number
}

const DEFAULT_ROOM: WaitingRoom = { droppable: 1024 ** 2, all: 4 * 1024 ** 2 }

/** A file, pipe, socket or terminal. */
export interface ByteSink {
  readonly write: (bytes: Uint8Array, offset: number, done: (error: Error | null, written: number) => void) => void
  readonly writeSync: (bytes: Uint8Array, offset: number) => number
}

/** The sink of a file descriptor. A thread of Node's pool writes to it. */
export const descriptorSink = (descriptor: number): ByteSink => ({
  write: (bytes, offset, done) => write(descriptor, bytes, offset, bytes.length - offset, null, done),
  writeSync: (bytes, offset) => writeSync(descriptor, bytes, offset)
})

const NEWLINE = 10

/** Blocks the process. */
const pause = (millis: number): void => void Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, millis)

const isBusy = (error: unknown): boolean => error instanceof Error && "code" in error && error.code === "EAGAIN"

/**
 * Writes lines together and beside the work of the process: a slow reader delays nothing. A line waits up to ten
 * milliseconds for others. What waits for the reader is bounded; lines beyond that are dropped, and `onDropped` gets their
 * number once a second. `writeRest` belongs on the exit of the process; lines that wait are lost only if it is killed.
 */
export class LineWriter {
  #waiting = ""
  /** The bytes that are being written, from `#offset` on. */
  #current: Uint8Array | undefined
  #offset = 0
  /** Waits for `RETRY_AFTER`: no thread writes. */
  #retry: NodeJS.Timeout | undefined
  #timer: NodeJS.Timeout | undefined
  /** Whether the lines that wait are written as soon as the current bytes are. */
  #isUrgent = false
  #dropped = 0
  #report: NodeJS.Timeout | undefined
  #idle: Array<() => void> = []
  readonly #sink: ByteSink
  readonly #onDropped: (lines: number) => void
  readonly #room: WaitingRoom

  constructor(sink: ByteSink, onDropped: (lines: number) => void, room = DEFAULT_ROOM) {
    this.#sink = sink
    this.#onDropped = onDropped
    this.#room = room
  }

  append(line: string, isDroppable = false): void {
    if (this.#waiting.length + line.length >= (isDroppable ? this.#room.droppable : this.#room.all)) {
      this.#drop(1)
      return
    }
    this.#waiting += `${line}\n`
    if (this.#current === undefined) this.#flushSoon()
  }

  /** Begins to write the lines that wait, or does so after the current bytes. */
  readonly flush = (): void => {
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#isUrgent = this.#current !== undefined
    if (this.#isUrgent || this.#waiting === "") return
    this.#take()
    this.#write()
  }

  #flushSoon(): void {
    this.#timer ??= setTimeout(this.flush, DELAY).unref()
  }

  /** Resolves once every line is written or dropped. */
  drained(): Promise<void> {
    this.flush()
    if (this.#current === undefined) return Promise.resolve()
    return new Promise((resolve) => this.#idle.push(resolve))
  }

  /** Writes all lines before it returns, unless the reader is not ready within a second. */
  readonly writeRest = (): void => {
    if (this.#dropped > 0) this.#reportDropped()
    if (this.#current !== undefined && this.#retry === undefined) {
      // A thread writes these bytes, and completes that before the process ends.
      pause(RETRY_AFTER)
      this.#current = undefined
    }
    if (this.#current !== undefined) this.#writeSync()
    if (this.#waiting === "") return
    this.#take()
    this.#writeSync()
  }

  #take(): void {
    this.#current = Buffer.from(this.#waiting)
    this.#offset = 0
    this.#waiting = ""
  }

  #write(): void {
    const bytes = this.#current!
    this.#sink.write(bytes, this.#offset, (error, written) => {
      if (error === null) this.#offset += written
      else if (isBusy(error)) {
        this.#retry = setTimeout(() => {
          this.#retry = undefined
          this.#write()
        }, RETRY_AFTER)
        return
      } else this.#fail(bytes)
      if (this.#offset < bytes.length) this.#write()
      else this.#next()
    })
  }

  #next(): void {
    this.#current = undefined
    if (this.#isUrgent || this.#idle.length > 0) this.flush()
    else if (this.#waiting !== "") this.#flushSoon()
    if (this.#current !== undefined) return
    for (const resolve of this.#idle.splice(0)) resolve()
  }

  #writeSync(): void {
    clearTimeout(this.#retry)
    const bytes = this.#current!
    for (let retries = 0; this.#offset < bytes.length && retries < LAST_RETRIES;) {
      try {
        this.#offset += this.#sink.writeSync(bytes, this.#offset)
      } catch (error) {
        if (!isBusy(error)) break
        pause(RETRY_AFTER)
        retries++
      }
    }
    this.#current = undefined
  }

  /** The reader has gone, or the disk is full: the unwritten bytes are dropped. */
  #fail(bytes: Uint8Array): void {
    this.#drop(bytes.subarray(this.#offset).filter((byte) => byte === NEWLINE).length)
    this.#offset = bytes.length
  }

  #drop(lines: number): void {
    this.#dropped += lines
    this.#report ??= setTimeout(() => this.#reportDropped(), REPORT_INTERVAL).unref()
  }

  #reportDropped(): void {
    clearTimeout(this.#report)
    this.#report = undefined
    const dropped = this.#dropped
    this.#dropped = 0
    this.#onDropped(dropped)
  }
}
