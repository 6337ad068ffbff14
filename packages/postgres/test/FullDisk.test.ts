import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { startProgram } from "./support/Program.ts"
import { mountSmallDisk, NO_SMALL_DISK } from "./support/SmallDisk.ts"

const smallDisk = (mebibytes: number) =>
  Effect.acquireRelease(
    Effect.sync(() => mountSmallDisk(mebibytes)),
    (disk) => Effect.sync(() => disk?.remove())
  )

const recovers = (name: string, mebibytes: number, reserve: string) =>
  it.live(name, ({ skip }) =>
    Effect.gen(function* () {
      const disk = yield* smallDisk(mebibytes)
      if (disk === undefined) return skip(NO_SMALL_DISK)
      const program = yield* startProgram("fillDiskMain", disk.directory, reserve)
      const [full = ""] = yield* program.lines(1)
      const [written, isUnavailable, isReady] = full.split(" ")
      assert.isAbove(Number(written), 100)
      assert.deepStrictEqual([isUnavailable, isReady], ["true", "false"])
      disk.resize(2 * mebibytes)
      yield* program.go
      const [, rows] = yield* program.lines(2)
      assert.strictEqual(Number(rows), Number(written) + 1)
    }).pipe(Effect.scoped)
  )

recovers("a disk without room for a statement makes the embedded database unavailable until it has room", 200, "")

// A quota that the disk does not report, for example.
recovers("an embedded database that panics on a full disk recovers what was committed, once there is room", 90, "0")
