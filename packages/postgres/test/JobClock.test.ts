import { JobStore } from "@agentos/core"
import { Database } from "@agentos/postgres"
import { assert, layer } from "@effect/vitest"
import { Effect, Layer, Option } from "effect"
import * as JobStorePostgres from "../src/JobStorePostgres.ts"
import { layerTestPGlite } from "./support/TestPGlite.ts"

const LEASE = 30_000

const layerJobs = Layer.provideMerge(JobStorePostgres.layer, layerTestPGlite)

layer(layerJobs, { excludeTestServices: true })("a database whose clock goes on with every reading", (it) => {
  it.effect("uses one moment for each step of a job", () =>
    Effect.gen(function* () {
      const { sql } = yield* Database
      const store = yield* JobStore
      yield* sql`create sequence readings`
      yield* sql`
        create or replace function epoch_millis() returns bigint language sql volatile
        return 1800000000000 + nextval('readings')`
      const job = Effect.map(store.list, ([record]) => record ?? assert.fail("there is no job"))

      const run = Option.getOrThrow(yield* store.take("clean", "due", LEASE))
      const taken = yield* job
      assert.strictEqual(taken.dueAt, taken.startedAt)
      assert.strictEqual(taken.leasedUntil, taken.dueAt + LEASE)

      assert.isTrue(yield* store.finish(run, { _tag: "Failed", message: "the relay is away" }, 1_000))
      const failed = yield* job
      assert.strictEqual(failed.dueAt, (failed.failedAt ?? 0) + 1_000)

      const again = Option.getOrThrow(yield* store.take("clean", "now", LEASE))
      assert.isTrue(yield* store.finish(again, { _tag: "Succeeded", done: 1 }, 0))
      const succeeded = yield* job
      assert.strictEqual(succeeded.dueAt, succeeded.succeededAt)
    })
  )
})
