import { type NextAttempt, isFinal, type OperationState, OperationStore } from "@agentos/core"
import { assert, describe } from "@effect/vitest"
import { Effect, Option, Schema } from "effect"
import { type ContractTests, propertyOptions } from "../Contract.ts"
import { StoreClock } from "../StoreClock.ts"
import * as Sample from "./OperationSample.ts"

/**
 * All times are multiples of this, so that the time which a database's own clock adds during a test does not
 * matter.
 */
const STEP = 10_000

const upTo = (maximum: number) => Schema.Int.check(Schema.isBetween({ minimum: 0, maximum }))
const Steps = Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 4 }))

const TakeDue = Schema.TaggedStruct("TakeDue", { limit: upTo(4), steps: Steps })
const Scheduled = { operation: upTo(3), kind: Schema.Literals(["leased", "scheduled"]), steps: Steps, stale: upTo(3) }

/** Commands on a few operations. A worker's fence is stale if `stale` is 0. */
const Command = Schema.Union([
  Schema.TaggedStruct("Claim", { steps: Steps }),
  Schema.TaggedStruct("Schedule", Scheduled),
  Schema.TaggedStruct("Move", Scheduled),
  Schema.TaggedStruct("End", { operation: upTo(3), stale: upTo(3) }),
  Schema.TaggedStruct("TakeOver", { operation: upTo(3), steps: Steps }),
  TakeDue,
  TakeDue,
  Schema.TaggedStruct("Advance", { steps: Steps })
])
type Command = typeof Command.Type

/** The state of an operation in the model, with times in steps. */
interface Modelled {
  readonly operationId: string
  readonly state: OperationState
  readonly fence: number
  readonly leasedUntil: number | null
  readonly dueAt: number | null
}

/** The simplest implementation of the port's leases and due times. */
class QueueModel {
  now = 0
  readonly operations: Array<Modelled> = []

  put(index: number, change: Partial<Modelled>): void {
    this.operations[index] = { ...this.operations[index]!, ...change }
  }

  next(kind: NextAttempt["kind"], steps: number): Pick<Modelled, "dueAt" | "leasedUntil"> {
    const dueAt = kind === "none" ? null : this.now + steps
    return { dueAt, leasedUntil: kind === "leased" ? dueAt : null }
  }

  take(index: number, steps: number): void {
    this.put(index, { fence: this.operations[index]!.fence + 1, ...this.next("leased", steps) })
  }

  /** Returns when the operations for a taker became due, oldest first. */
  due(limit: number): ReadonlyArray<number> {
    return this.operations
      .flatMap(({ dueAt }) => (dueAt !== null && dueAt <= this.now ? [dueAt] : []))
      .toSorted((a, b) => a - b)
      .slice(0, limit)
  }
}

/** An empty queue with its model, and a function that runs one command on both and compares the results. */
const start = Effect.gen(function* () {
  const store = yield* Sample.emptiedQueue
  const clock = yield* StoreClock
  const model = new QueueModel()

  const pick = (index: number) => {
    const at = index % Math.max(model.operations.length, 1)
    return { at, operation: model.operations[at] }
  }
  const fenceOf = ({ fence }: Modelled, stale: number) => (stale === 0 ? fence - 1 : fence)

  const takeDue = Effect.fnUntraced(function* (limit: number, steps: number) {
    const taken = (yield* store.takeDue(limit, steps * STEP)).map(({ operationId }) =>
      model.operations.findIndex((each) => each.operationId === operationId)
    )
    assert.deepStrictEqual<unknown>(
      taken.map((at) => model.operations[at]?.dueAt),
      model.due(limit)
    )
    assert.strictEqual(new Set(taken).size, taken.length, "each once")
    for (const at of taken) model.take(at, steps)
  })

  const advance = Effect.fnUntraced(function* (
    at: number,
    stale: number,
    to: OperationState,
    next: NextAttempt,
    steps: number
  ) {
    const operation = model.operations[at]!
    const { operationId, state } = operation
    const known = { ...(yield* Sample.found(operationId)), state, fence: fenceOf(operation, stale) }
    const moved = yield* store.advance(known, { to, change: {}, next })
    assert.strictEqual(Option.isSome(moved), stale !== 0)
    if (stale !== 0) model.put(at, { state: to, ...model.next(next.kind, steps) })
  })

  const run = Effect.fnUntraced(function* (command: Command) {
    switch (command._tag) {
      case "Claim": {
        const { operationId } = yield* Sample.claimed({}, command.steps * STEP)
        model.operations.push({ operationId, state: "claimed", fence: 1, ...model.next("leased", command.steps) })
        return
      }
      case "TakeDue":
        return yield* takeDue(command.limit, command.steps)
      case "Advance":
        yield* clock.advance(command.steps * STEP)
        model.now += command.steps
        return
      default: {
        const { at, operation } = pick(command.operation)
        if (operation === undefined) return
        const ended = isFinal(operation.state)
        switch (command._tag) {
          case "Schedule": {
            const { kind, stale, steps } = command
            const fence = fenceOf(operation, stale)
            const answer = yield* store.setNextAttempt(operation.operationId, fence, { kind, millis: steps * STEP })
            assert.strictEqual(answer, stale !== 0 && !ended)
            if (answer) model.put(at, model.next(kind, steps))
            return
          }
          case "TakeOver": {
            const taken = yield* store.takeOver(operation.operationId, command.steps * STEP)
            const free = operation.leasedUntil === null || operation.leasedUntil <= model.now
            assert.strictEqual(Option.isSome(taken), free && !ended)
            if (Option.isSome(taken)) model.take(at, command.steps)
            return
          }
          case "Move":
            if (ended) return
            return yield* advance(
              at,
              command.stale,
              "settling",
              { kind: command.kind, millis: command.steps * STEP },
              command.steps
            )
          case "End":
            if (ended) return
            return yield* advance(at, command.stale, "unpaid", { kind: "none" }, 0)
        }
      }
    }
  })

  const compare = Effect.gen(function* () {
    for (const { dueAt, fence, leasedUntil, operationId, state } of model.operations) {
      const stored = yield* Sample.found(operationId)
      const isHeld = [stored.leasedUntil !== null, stored.dueAt !== null]
      assert.deepStrictEqual(
        [stored.state, stored.fence, ...isHeld],
        [state, fence, leasedUntil !== null, dueAt !== null]
      )
    }
  })
  return { run, compare }
})

/** Compares the leases after any sequence of commands with the model. */
export const operationQueueModelTests: ContractTests<OperationStore> = (it, capabilities) => {
  describe("open operations", () => {
    it.effect.prop(
      "are taken when they are due, and not while they are leased, after any commands",
      { commands: Schema.Array(Command).check(Schema.isMaxLength(30)) },
      ({ commands }) =>
        Effect.gen(function* () {
          const { compare, run } = yield* start
          for (const command of commands) {
            yield* run(command)
            yield* compare
          }
        }),
      propertyOptions(capabilities)
    )
  })
}
