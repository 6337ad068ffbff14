import type { PGlite } from "@electric-sql/pglite"
import { statfsSync } from "node:fs"

const MEBIBYTE = 1024 * 1024

/** Bytes that must be free before a statement: segments of the write-ahead log, which have 16 MiB, and the files behind it. */
const DISK_RESERVE_BYTES = 64 * MEBIBYTE

/** Bytes that must be free in addition once the disk was full, so that a few bytes more or less do not matter. */
const DISK_MARGIN_BYTES = 16 * MEBIBYTE

/** Bytes that a statement may write for each of its own: to the log, with images of the pages, to its table and to indexes. */
const WRITTEN_PER_BYTE = 4

/** Returns the free bytes of a directory's disk. It takes a few microseconds. */
const freeBytes = (directory: string): number => {
  const { bavail, bsize } = statfsSync(directory)
  return bavail * bsize
}

/** The disk of an embedded database has too little room. */
export class DiskFull extends Error {
  override readonly name = "DiskFull"
}

export interface PGliteEngineOptions {
  /** Starts PGlite. It recovers what an engine that was discarded has left. */
  readonly start: () => Promise<PGlite>
  /** The directory of the database; undefined in memory. */
  readonly directory: string | undefined
  readonly diskReserveBytes?: number | undefined
}

/**
 * The engine of an embedded database. PostgreSQL panics when it can't write its log: a server would end, and start again. So
 * no statement begins on a disk that has little room. An engine that has panicked is discarded, and the next one recovers all
 * that was committed.
 */
export class PGliteEngine {
  #database: Promise<PGlite> | undefined
  #isFull = false
  readonly #options: PGliteEngineOptions

  constructor(options: PGliteEngineOptions) {
    this.#options = options
  }

  /** Throws `DiskFull` if statements of so many bytes could use up the disk. */
  requireRoom(bytes: number): void {
    const { directory, diskReserveBytes = DISK_RESERVE_BYTES } = this.#options
    if (directory === undefined) return
    const free = freeBytes(directory)
    const needed = diskReserveBytes + WRITTEN_PER_BYTE * bytes + (this.#isFull ? DISK_MARGIN_BYTES : 0)
    this.#isFull = free < needed
    if (!this.#isFull) return
    const inMebibytes = (count: number) => `${Math.floor(count / MEBIBYTE)} MiB`
    throw new DiskFull(
      `the disk of ${directory} has ${inMebibytes(free)} left, and ${inMebibytes(needed)} are needed. Free some space`
    )
  }

  /** Returns the engine that runs, or starts one. */
  database(): Promise<PGlite> {
    if (this.#database !== undefined) return this.#database
    const started = this.#options.start()
    this.#database = started
    started.catch(() => this.#discard(started))
    return started
  }

  /** Forgets the engine, which can't be closed either. The next use starts another one. */
  discard(): void {
    this.#database = undefined
  }

  /** Closes the engine. Without room on the disk it is left as after a crash, from which the next one recovers. */
  async close(): Promise<void> {
    const database = await this.#database
    try {
      this.requireRoom(0)
    } catch {
      return
    }
    await database?.close()
  }

  #discard(started: Promise<PGlite>): void {
    if (this.#database === started) this.discard()
  }
}

/** The exit status of the exception by which PGlite's PostgreSQL leaves a statement that has failed. */
const POSTGRES_MAIN_LONGJMP = 100

/**
 * Makes a call fail whose WebAssembly was aborted, by a panic for example. PGlite treats every exception as an error of the
 * statement and continues with the rest of it, which an aborted program never takes: its loop does not end.
 */
export const failWhenAborted = (database: PGlite): PGlite => {
  const { Module: program } = database
  const { _PostgresMainLoopOnce: runOnce, stackRestore } = program
  let aborted: Error | undefined
  program._PostgresMainLoopOnce = () => {
    try {
      runOnce()
    } catch (error) {
      if (statusOf(error) !== POSTGRES_MAIN_LONGJMP) {
        aborted = new Error("the embedded database panicked. It recovers with the next statement", { cause: error })
      }
      throw error
    }
  }
  // PGlite calls it for each exception that it has caught.
  program.stackRestore = (pointer) => {
    if (aborted !== undefined) throw aborted
    return stackRestore(pointer)
  }
  return database
}

const statusOf = (error: unknown): unknown =>
  typeof error === "object" && error !== null && "status" in error ? error.status : undefined
