import { acquireFileLock, FileLockedError } from "@agentos/node/file-lock"
import { Effect, Schema, type Scope } from "effect"
import { join } from "node:path"

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
