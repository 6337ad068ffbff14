import { MailboxStore } from "@agentos/core"
import { assert, describe } from "@effect/vitest"
import { Array, Effect, Schema } from "effect"
import { type ContractTests, propertyOptions } from "../Contract.ts"
import * as Fresh from "../Fresh.ts"
import * as Sample from "./MailboxSample.ts"

/** Two operations of each of two tenants: operation `n` belongs to tenant `n % 2`. */
const Operation = Schema.Literals([0, 1, 2, 3])

/** Commands on one local part. `Create` and `Remove` run only when they are allowed. */
const Command = Schema.Union([
  Schema.TaggedStruct("Reserve", { operation: Operation }),
  Schema.TaggedStruct("GiveUp", { operation: Operation }),
  Schema.TaggedStruct("Create", {}),
  Schema.TaggedStruct("Remove", {})
])
type Command = typeof Command.Type

/** The state of the local part, in the simplest form. */
interface Model {
  owner: number | null
  heldBy: number | null
  mailboxId: string | null
}

const isFree = (model: Model, tenant: number | null): boolean =>
  model.heldBy === null && model.mailboxId === null && (model.owner === null || model.owner === tenant)

/** A new local part with its model, and a function that runs one command on both and compares the results. */
const start = Effect.gen(function* () {
  const store = yield* MailboxStore
  const tenants = yield* Effect.all([Fresh.tenant, Fresh.tenant])
  const operations = yield* Effect.forEach(Array.range(0, 3), () => Fresh.id)
  const localPart = yield* Fresh.word
  const model: Model = { owner: null, heldBy: null, mailboxId: null }
  const tenantOf = (operation: number) => tenants[operation % 2]!

  const run = Effect.fnUntraced(function* (command: Command) {
    switch (command._tag) {
      case "Reserve": {
        const { operation } = command
        const expected = model.heldBy === operation || isFree(model, operation % 2) ? "reserved" : "taken"
        const answer = yield* store.reserve(localPart, tenantOf(operation).tenantId, operations[operation]!)
        assert.strictEqual(answer, expected)
        if (expected === "reserved") model.heldBy = operation
        return
      }
      case "GiveUp":
        yield* store.release(operations[command.operation]!)
        if (model.heldBy === command.operation) model.heldBy = null
        return
      case "Create": {
        if (model.heldBy === null) return
        const mailbox = yield* Sample.mailbox(tenantOf(model.heldBy), { localPart })
        yield* store.create(mailbox, operations[model.heldBy]!)
        model.owner = model.heldBy % 2
        model.heldBy = null
        model.mailboxId = mailbox.mailboxId
        return
      }
      case "Remove":
        if (model.owner === null || model.mailboxId === null) return
        assert.strictEqual(yield* store.remove(tenants[model.owner]!.tenantId, model.mailboxId), 0)
        model.mailboxId = null
        return
    }
  })

  const compare = Effect.gen(function* () {
    const free = yield* Effect.forEach([0, 1, null], (tenant) =>
      store.isAvailable(localPart, tenant === null ? null : tenants[tenant]!.tenantId)
    )
    assert.deepStrictEqual(
      free,
      [0, 1, null].map((tenant) => isFree(model, tenant))
    )
    const active = (yield* store.findActive([localPart])).map((mailbox) => mailbox.mailboxId)
    assert.deepStrictEqual(active, model.mailboxId === null ? [] : [model.mailboxId])
  })

  return { run, compare }
})

/** Compares any sequence of commands on a local part with the model. */
export const reservationModelTests: ContractTests<MailboxStore> = (it, capabilities) => {
  describe("a local part", () => {
    it.effect.prop(
      "has the owner that its model has after any commands",
      { commands: Schema.Array(Command).check(Schema.isMaxLength(40)) },
      ({ commands }) =>
        Effect.gen(function* () {
          const { compare, run } = yield* start
          yield* compare
          for (const command of commands) {
            yield* run(command)
            yield* compare
          }
        }),
      propertyOptions(capabilities)
    )
  })
}
