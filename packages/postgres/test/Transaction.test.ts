import { Database, DatabaseFailure } from "@agentos/postgres"
import { assert, layer } from "@effect/vitest"
import { Cause, Deferred, Effect, Exit } from "effect"
import { layerTestPostgres } from "./support/TestPostgres.ts"

layer(layerTestPostgres(), { excludeTestServices: true })("a transaction", (it) => {
  it.effect("is retried from its beginning after the server ended it for a deadlock", () =>
    Effect.gen(function* () {
      const { sql, transact } = yield* Database
      yield* sql`create table account (name text primary key, amount integer not null)`
      yield* sql`insert into account values ('a', 0), ('b', 0)`
      const [first, second] = yield* Effect.all([Deferred.make<void>(), Deferred.make<void>()])
      let attempts = 0
      const move = (from: string, to: string, mine: typeof first, other: typeof first) =>
        transact(
          Effect.gen(function* () {
            attempts++
            yield* Effect.orDie(sql`update account set amount = amount - 1 where name = ${from}`)
            yield* Deferred.succeed(mine, undefined)
            yield* Deferred.await(other)
            yield* Effect.orDie(sql`update account set amount = amount + 1 where name = ${to}`)
          })
        )
      yield* Effect.all([move("a", "b", first, second), move("b", "a", second, first)], { concurrency: 2 })
      assert.isAtLeast(attempts, 3)
      assert.deepStrictEqual(yield* sql`select name, amount from account order by name`, [
        { name: "a", amount: 0 },
        { name: "b", amount: 0 }
      ])
    })
  )

  it.effect("dies with the server's error, in a message without any values", () =>
    Effect.gen(function* () {
      const { sql, transact } = yield* Database
      yield* sql`create table single (secret text constraint single_secret_key unique)`
      const insert = sql`insert into single values ('a secret')`
      yield* insert
      const exit = yield* Effect.exit(transact(Effect.orDie(insert)))
      assert.isTrue(Exit.isFailure(exit) && Cause.hasDies(exit.cause))
      const failure = Exit.isFailure(exit) ? Cause.squash(exit.cause) : undefined
      assert.instanceOf(failure, DatabaseFailure)
      assert.strictEqual(failure.constraint, "single_secret_key")
      assert.strictEqual(failure.code, "23505")
      assert.notInclude(failure.message, "a secret")
    })
  )
})
