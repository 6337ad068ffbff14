import { acquireFileLock, FileLockedError } from "@agentos/node/file-lock"
import { Effect, Schema, type Scope } from "effect"
import { execFile } from "node:child_process"
import { existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync } from "node:fs"
import { extname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { DatabaseFailure } from "./DatabaseFailure.ts"
import { failWhenAborted, PGliteEngine } from "./PGliteEngine.ts"

/** Fails because another process uses the directory. */
export class DirectoryInUse extends Schema.TaggedError<DirectoryInUse>()("DirectoryInUse", {
  directory: Schema.String,
  pid: Schema.Int
}) {
  override get message(): string {
    return (
      `${this.directory} is in use by process ${this.pid}: stop it first, or choose another directory. ` +
      "Servers that are to share their data need a PostgreSQL server."
    )
  }
}

/** Locks a directory for this process until the scope closes. */
export const lockDirectory = (directory: string): Effect.Effect<void, DirectoryInUse, Scope.Scope> =>
  Effect.asVoid(
    Effect.acquireRelease(
      Effect.suspend(() => {
        try {
          return Effect.succeed(acquireFileLock(join(directory, "agentos.lock")))
        } catch (error) {
          if (error instanceof FileLockedError) return Effect.fail(new DirectoryInUse({ directory, pid: error.pid }))
          throw error
        }
      }),
      (lock) => Effect.sync(lock.release)
    )
  )

/**
 * Opens an embedded database until the scope closes: in a directory, which is locked against other processes,
 * or in memory. `settings` are those of PostgreSQL.
 */
export const openPGlite = Effect.fnUntraced(function* (
  directory: string | undefined,
  settings: Readonly<Record<string, string>>,
  diskReserveBytes?: number
) {
  if (directory !== undefined) {
    yield* Effect.try({ try: () => mkdirSync(directory, { recursive: true, mode: 0o700 }), catch: notOpened })
    yield* Effect.catchDefect(lockDirectory(directory), (cause) => Effect.fail(notOpened(cause)))
    yield* Effect.tryPromise({ try: () => createDatabase(directory), catch: notOpened })
  }
  const parameters = Object.entries(settings).flatMap(([name, value]) => ["-c", `${name}=${value}`])
  return yield* Effect.acquireRelease(
    Effect.tryPromise({
      try: async () => {
        // Imported on demand: its modules take 50 ms to load, and most servers use PostgreSQL.
        const { PGlite } = await import("@electric-sql/pglite")
        const engine = new PGliteEngine({
          directory,
          diskReserveBytes,
          start: async () =>
            failWhenAborted(
              await PGlite.create(directory === undefined ? "memory://" : databaseIn(directory), {
                startParams: [...PGlite.defaultStartParams, ...parameters]
              })
            )
        })
        engine.requireRoom(0)
        await engine.database()
        return engine
      },
      catch: notOpened
    }),
    (engine) => Effect.promise(() => engine.close())
  )
})

const databaseIn = (directory: string): string => join(directory, "database")

export const hasDatabase = (directory: string): boolean => existsSync(databaseIn(directory))

const notOpened = (cause: unknown): DatabaseFailure =>
  new DatabaseFailure({
    message: `the embedded database can't be opened: ${String(cause)}`,
    code: undefined,
    constraint: undefined,
    isUnavailable: false,
    cause
  })

const run = promisify(execFile)

/** Prefix of the name of a database that is being made, followed by a suffix for each attempt. */
const DRAFT = "database.new-"

/** The program that makes a database: a source file beside this module, or the file built from it. */
const creator = fileURLToPath(new URL(`createDatabaseMain${extname(import.meta.url)}`, import.meta.url))

/**
 * Makes the database unless it exists: in another directory first, so that an existing database is always
 * complete. Each attempt has a directory of its own, since that of a killed server may still be in use by its
 * child process.
 */
const createDatabase = async (directory: string): Promise<void> => {
  if (hasDatabase(directory)) return
  for (const name of readdirSync(directory)) {
    if (name.startsWith(DRAFT)) rmSync(join(directory, name), { recursive: true, force: true })
  }
  const draft = mkdtempSync(join(directory, DRAFT))
  // For a program that runs once, optimizing its WebAssembly takes longer than it saves.
  await run(process.execPath, ["--liftoff-only", creator, draft])
  renameSync(draft, databaseIn(directory))
}
