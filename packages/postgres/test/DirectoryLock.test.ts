import { assert, describe, it } from "@effect/vitest"
import { Array, Effect, Exit, Scope } from "effect"
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { lockDirectory } from "../src/DirectoryLock.ts"
import { startProgram, temporaryDirectory } from "./support/Program.ts"

const holderOf = (directory: string): { readonly pid: number; readonly startedAt: string; readonly token: string } =>
  JSON.parse(readFileSync(join(directory, "agentos.lock"), "utf8"))

describe("lockDirectory", () => {
  it.live("rejects other processes until its scope closes, and names the holder", () =>
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
      const elsewhere = yield* startProgram("lockMain", directory)
      yield* elsewhere.go
      assert.deepStrictEqual(yield* elsewhere.lines(2), ["ready", refused.message])
      yield* Scope.close(scope, Exit.void)
      assert.deepStrictEqual(readdirSync(directory), [])
      yield* Effect.scoped(lockDirectory(directory))
    })
  )

  it.live("stays with a live process, and is taken over from a killed one", () =>
    Effect.gen(function* () {
      const directory = yield* temporaryDirectory
      const holder = yield* startProgram("lockMain", directory)
      yield* holder.go
      assert.deepStrictEqual(yield* holder.lines(2), ["ready", "held"])
      assert.strictEqual((yield* Effect.flip(lockDirectory(directory))).pid, holder.pid)
      yield* holder.kill
      assert.isTrue(existsSync(join(directory, "agentos.lock")))
      yield* lockDirectory(directory)
      assert.strictEqual(holderOf(directory).pid, process.pid)
      assert.deepStrictEqual(readdirSync(directory), ["agentos.lock"])
    })
  )

  it.live("is taken over if another process now has the same pid", () =>
    Effect.gen(function* () {
      const directory = yield* temporaryDirectory
      const earlier = { pid: process.pid, startedAt: "at another time", token: "t" }
      writeFileSync(join(directory, "agentos.lock"), JSON.stringify(earlier))
      yield* lockDirectory(directory)
      assert.notStrictEqual(holderOf(directory).startedAt, earlier.startedAt)
    })
  )

  it.live.each(["", "{", "null", `{"pid":"1"}`])("passes on from a lock that says nothing: %j", (text) =>
    Effect.gen(function* () {
      const directory = yield* temporaryDirectory
      writeFileSync(join(directory, "agentos.lock"), text)
      yield* lockDirectory(directory)
      assert.strictEqual(holderOf(directory).pid, process.pid)
    })
  )

  it.live("is taken over although the last process that tried was killed while doing so", () =>
    Effect.gen(function* () {
      const directory = yield* temporaryDirectory
      const dead = (token: string) => JSON.stringify({ pid: process.pid, startedAt: "long ago", token })
      writeFileSync(join(directory, "agentos.lock"), dead("first"))
      writeFileSync(join(directory, "agentos.lock.first"), dead("second"))
      writeFileSync(join(directory, "agentos.lock.first.second"), dead("third"))
      yield* lockDirectory(directory)
      assert.deepStrictEqual(readdirSync(directory), ["agentos.lock"])
    })
  )

  it.live(
    "goes to exactly one of many processes that find it stale at once",
    () =>
      Effect.gen(function* () {
        const directory = yield* temporaryDirectory
        const stale = { pid: process.pid, startedAt: "long ago", token: "stale" }
        writeFileSync(join(directory, "agentos.lock"), JSON.stringify(stale))
        const racers = yield* Effect.forEach(Array.range(1, 8), () => startProgram("lockMain", directory))
        yield* Effect.forEach(racers, (racer) => racer.lines(1))
        yield* Effect.forEach(racers, (racer) => racer.go)
        const said = yield* Effect.forEach(racers, (racer) => racer.lines(2))
        const winners = racers.filter((_, index) => said[index]?.[1] === "held")
        assert.strictEqual(winners.length, 1, JSON.stringify(said))
        assert.strictEqual(holderOf(directory).pid, winners[0]?.pid)
      }),
    60_000
  )
})
