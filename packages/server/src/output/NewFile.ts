import { messageOf } from "@agentos/node/command-line"
import { Effect, Schema } from "effect"
import { once } from "node:events"
import { createWriteStream } from "node:fs"
import { rm } from "node:fs/promises"
import { writeZip, type ZipEntry } from "./ZipFile.ts"

/** A new file was not written. It does not exist, unless another program has made it. */
export class FileNotWritten extends Schema.TaggedError<FileNotWritten>()("FileNotWritten", {
  path: Schema.String,
  /** Contains nothing of the data. */
  reason: Schema.String,
  cause: Schema.Defect()
}) {
  override get message(): string {
    return `${this.path} was not written: ${this.reason}.`
  }
}

const NOT_READ = "the data was not read"

/** Returns whether the error is one of the file system, whose message has nothing of the data. */
const isOfSystem = (error: unknown): boolean => error instanceof Error && "syscall" in error

/** Writes a ZIP archive to a new file that only this user can read. Returns the number of files in it. */
export const writeZipFile = Effect.fnUntraced(function* (path: string, entries: AsyncIterable<ZipEntry>) {
  const step = <A>(run: () => Promise<A>) =>
    Effect.tryPromise({
      try: run,
      catch: (cause) => new FileNotWritten({ path, cause, reason: isOfSystem(cause) ? messageOf(cause) : NOT_READ })
    }).pipe(
      Effect.tapError(({ cause, reason }) => (reason === NOT_READ ? Effect.logError(NOT_READ, cause) : Effect.void))
    )
  const file = yield* step(async () => {
    const opened = createWriteStream(path, { flags: "wx", mode: 0o600 })
    await once(opened, "open")
    return opened
  })
  return yield* step(async () => {
    const count = await writeZip(entries, file)
    file.end()
    await once(file, "close")
    return count
    // A part of an archive can't be read, and would prevent a repetition.
  }).pipe(Effect.onError(() => Effect.promise(() => rm(path, { force: true }))))
})
