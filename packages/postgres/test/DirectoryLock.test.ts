import { assert, it } from "@effect/vitest"
import { Effect, Exit, Scope } from "effect"
import { readdirSync } from "node:fs"
import { lockDirectory } from "../src/PGliteDatabase.ts"
import { temporaryDirectory } from "./support/Program.ts"

// packages/node/test/file-lock tests the lock itself.
it.live("lockDirectory rejects another user of the directory until its scope closes, and names the holder", () =>
  Effect.gen(function* () {
    const directory = yield* temporaryDirectory
    const scope = yield* Scope.make()
    yield* Scope.provide(lockDirectory(directory), scope)
    const refused = yield* Effect.flip(Effect.scoped(lockDirectory(directory)))
    assert.strictEqual(refused._tag, "DirectoryInUse")
    assert.strictEqual(
      refused.message,
      `${directory} is in use by process ${process.pid}: stop it first, or choose another directory. ` +
        "Servers that are to share their data need a PostgreSQL server."
    )
    yield* Scope.close(scope, Exit.void)
    assert.deepStrictEqual(readdirSync(directory), [])
    yield* Effect.scoped(lockDirectory(directory))
  })
)
