import type { DurableEvent, EventDraft } from "@agentos/core"
import { assert, describe, it } from "@effect/vitest"
import { Cause, Deferred, Effect, Exit, Fiber } from "effect"
import { SqlError } from "effect/sql"
import { type Appended, type Appends, groupAppends } from "../../src/event/AppendGroups.ts"

const draft = (tenantId: string, dedupeKey: string): EventDraft => ({
  tenantId,
  type: "email.received",
  source: "smtp",
  service: "email",
  resourceId: dedupeKey,
  agentId: "an agent",
  payload: {},
  dedupeKey
})

const eventOf = ({ dedupeKey, ...rest }: EventDraft) => ({ ...rest, eventId: dedupeKey }) as DurableEvent

const keys = (drafts: ReadonlyArray<EventDraft>) => drafts.map(({ dedupeKey }) => dedupeKey)

/**
 * Stores nothing: records the events that it was asked to store together and alone, each statement with the result that
 * the test chose.
 */
class Statements {
  readonly together: Array<ReadonlyArray<string>> = []
  readonly alone: Array<ReadonlyArray<string>> = []
  private readonly appends: Appends
  constructor(answer: (drafts: ReadonlyArray<EventDraft>) => ReturnType<Appends["together"]>) {
    this.appends = {
      together: (drafts) =>
        Effect.andThen(
          Effect.sync(() => this.together.push(keys(drafts))),
          answer(drafts)
        ),
      alone: (drafts) =>
        Effect.as(
          Effect.sync(() => this.alone.push(keys(drafts))),
          drafts.map(eventOf)
        )
    }
  }

  /** Groups whose first statement lasts until `proceed`; the first call's statement is in progress. */
  readonly grouped = Effect.gen({ self: this }, function* () {
    const append = groupAppends(this.appends)
    const first = yield* Effect.forkChild(append([draft("a tenant", "first")]))
    while (this.together.length === 0) yield* Effect.yieldNow
    return { append, first }
  })
}

const stored = (drafts: ReadonlyArray<EventDraft>): Effect.Effect<ReadonlyArray<Appended>> =>
  Effect.succeed(drafts.map(eventOf))

/** Statements that wait for `gate` before they return `answer`. */
const behind = (
  gate: Deferred.Deferred<void>,
  answer: (drafts: ReadonlyArray<EventDraft>) => ReturnType<Appends["together"]>
) => new Statements((drafts) => Effect.andThen(Deferred.await(gate), answer(drafts)))

const refusal = (code: string | undefined) =>
  new SqlError.SqlError({ reason: new SqlError.UnknownError({ cause: { code }, message: "no" }) })

describe("overlapping appends", () => {
  it.effect("are stored together, and each returns its own events", () =>
    Effect.gen(function* () {
      const gate = yield* Deferred.make<void>()
      const statements = behind(gate, stored)
      const { append, first } = yield* statements.grouped
      const calls = [["a"], ["b", "c"], ["d"]]
      const others = yield* Effect.forEach(calls, (names, index) =>
        Effect.forkChild(append(names.map((name) => draft(`tenant ${index}`, name))), { startImmediately: true })
      )
      yield* Deferred.succeed(gate, undefined)
      const answers = yield* Effect.forEach([first, ...others], Fiber.join)
      assert.deepStrictEqual(
        answers.map((events) => events.map(({ eventId }) => eventId)),
        [["first"], ...calls]
      )
      assert.deepStrictEqual(statements.together, [["first"], calls.flat()])
      assert.deepStrictEqual(statements.alone, [])
      yield* append([draft("a tenant", "later")])
      assert.deepStrictEqual(statements.together.at(-1), ["later"])
    })
  )

  it.effect("are stored with a limited number of events per statement", () =>
    Effect.gen(function* () {
      const gate = yield* Deferred.make<void>()
      const statements = behind(gate, stored)
      const { append, first } = yield* statements.grouped
      const many = (name: string, count: number) =>
        append(Array.from({ length: count }, (_, index) => draft("another", `${name}${index}`)))
      const others = yield* Effect.forEach([300, 200, 1, 501], (count, index) =>
        Effect.forkChild(many(`${index}-`, count), { startImmediately: true })
      )
      yield* Deferred.succeed(gate, undefined)
      yield* Effect.forEach([first, ...others], Fiber.join)
      assert.deepStrictEqual(
        statements.together.map(({ length }) => length),
        [1, 500, 1]
      )
      assert.deepStrictEqual(
        statements.alone.map(({ length }) => length),
        [501]
      )
    })
  )

  it.effect("are stored alone if their tenant was locked, or if they have several tenants", () =>
    Effect.gen(function* () {
      const gate = yield* Deferred.make<void>()
      const statements = behind(gate, (drafts) =>
        Effect.succeed(drafts.map((each) => (each.tenantId === "locked" ? "left" : eventOf(each))))
      )
      const { append, first } = yield* statements.grouped
      const calls = [[draft("locked", "a")], [draft("free", "b")], [draft("free", "c"), draft("another", "d")]]
      const others = yield* Effect.forEach(calls, (drafts) =>
        Effect.forkChild(append(drafts), { startImmediately: true })
      )
      yield* Deferred.succeed(gate, undefined)
      const answers = yield* Effect.forEach([first, ...others], Fiber.join)
      assert.deepStrictEqual(
        answers.map((events) => events.map(({ eventId }) => eventId)),
        [["first"], ["a"], ["b"], ["c", "d"]]
      )
      assert.deepStrictEqual(statements.together, [["first"], ["a", "b"]])
      assert.sameDeepMembers(statements.alone, [["a"], ["c", "d"]])
    })
  )

  it.effect("are each stored alone if the server refused them together", () =>
    Effect.gen(function* () {
      const gate = yield* Deferred.make<void>()
      const statements = behind(gate, () => Effect.fail(refusal("22P05")))
      const { append, first } = yield* statements.grouped
      const others = yield* Effect.forEach(["a", "b"], (name) =>
        Effect.forkChild(append([draft(name, name)]), { startImmediately: true })
      )
      yield* Deferred.succeed(gate, undefined)
      yield* Effect.forEach([first, ...others], Fiber.join)
      assert.sameDeepMembers(statements.alone, [["first"], ["a"], ["b"]])
    })
  )

  for (const [what, failure] of [
    ["its connection was lost", Effect.fail(refusal(undefined))],
    ["the cause is unknown", Effect.interrupt]
  ] as const) {
    it.effect(`all fail, without a retry, when the outcome of their statement is unknown: ${what}`, () =>
      Effect.gen(function* () {
        const gate = yield* Deferred.make<void>()
        const statements = behind(gate, (drafts) => (drafts[0]?.dedupeKey === "later" ? stored(drafts) : failure))
        const { append, first } = yield* statements.grouped
        const second = yield* Effect.forkChild(append([draft("a", "a")]), { startImmediately: true })
        yield* Deferred.succeed(gate, undefined)
        for (const exit of [yield* Fiber.await(first), yield* Fiber.await(second)]) {
          assert.isTrue(Exit.isFailure(exit))
          assert.isTrue(Exit.isFailure(exit) && exit.cause.reasons.every((reason) => !Cause.isFailReason(reason)))
        }
        assert.deepStrictEqual(statements.alone, [])
        assert.strictEqual((yield* append([draft("a", "later")])).length, 1)
      })
    )
  }

  it.effect("survive the interruption of one of them, which is not stored if it still waited", () =>
    Effect.gen(function* () {
      const gate = yield* Deferred.make<void>()
      const statements = behind(gate, stored)
      const { append, first } = yield* statements.grouped
      const [waiting, other] = yield* Effect.forEach(["waiting", "other"], (name) =>
        Effect.forkChild(append([draft(name, name)]), { startImmediately: true })
      )
      yield* Fiber.interrupt(first)
      yield* Fiber.interrupt(waiting!)
      yield* Deferred.succeed(gate, undefined)
      assert.strictEqual((yield* Fiber.join(other!)).length, 1)
      assert.deepStrictEqual(statements.together, [["first"], ["other"]])
    })
  )
})
