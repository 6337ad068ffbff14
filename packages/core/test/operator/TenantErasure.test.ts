import { audited, type AuditRecord, AuditStore, TenantAdministration, TenantErasure, Timestamp } from "@agentos/core"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Layer } from "effect"
import { TestClock } from "effect/testing"
import * as Mailboxes from "../../contract-tests/email/MailboxSample.ts"
import { StoreClock } from "../../contract-tests/StoreClock.ts"
import * as TestHost from "../support/TestHost.ts"

const CLOCK = Layer.succeed(StoreClock, { now: Timestamp.now, advance: (millis) => TestClock.adjust(millis) })

const records = Effect.map(
  Effect.flatMap(AuditStore, ({ list }) => list({ limit: 9 })),
  (found) => found.map(({ action, actor, outcome, reason, target }) => [action, target, actor, reason, outcome])
)

describe("an erasure", () => {
  it.effect("leaves a record with its first change, so also if its process is killed after that", () =>
    Effect.gen(function* () {
      const { erase } = yield* TenantErasure
      const { tenantId } = yield* Mailboxes.owner
      const mutation = { actor: "ada", action: "tenant.erase", target: tenantId.toUpperCase(), reason: "Asked for" }
      const erasing = yield* Effect.forkChild(audited(mutation, erase(tenantId)))
      yield* TestClock.adjust("4 seconds")
      const begun = ["tenant.begin-erasure", tenantId, "ada", "Asked for", "succeeded"]
      assert.deepStrictEqual(yield* records, [begun])
      const { list } = yield* AuditStore
      const [{ after, before }] = (yield* list({ limit: 1 })) as [AuditRecord]
      assert.strictEqual(before, '{"suspension":null}')
      assert.strictEqual(
        after,
        '{"suspension":{"at":"1970-01-01T00:00:00.000Z","reason":"Erased."},"tokens":"revoked"}'
      )
      yield* TestClock.adjust("1 second")
      yield* Fiber.join(erasing)
      assert.deepStrictEqual(yield* records, [begun, ["tenant.erase", tenantId, "ada", "Asked for", "succeeded"]])
    }).pipe(Effect.provide(TestHost.make().layer.pipe(Layer.provideMerge(CLOCK))))
  )

  it.effect("ends if another operator resumes the tenant meanwhile, and continues when it is repeated", () =>
    Effect.gen(function* () {
      const { erase, preview } = yield* TenantErasure
      const { resume } = yield* TenantAdministration
      const { tenantId } = yield* Mailboxes.owner
      const interfered = yield* Effect.forkChild(Effect.flip(erase(tenantId)))
      yield* TestClock.adjust("4 seconds")
      yield* resume(tenantId)
      yield* TestClock.adjust("1 second")
      const { message } = yield* Fiber.join(interfered)
      assert.include(message, "was resumed during its erasure")
      assert.strictEqual((yield* preview(tenantId)).contents.mailboxes, 1)
      const repeated = yield* Effect.forkChild(erase(tenantId))
      yield* TestClock.adjust("5 seconds")
      assert.isTrue((yield* Fiber.join(repeated)).erased)
      assert.strictEqual((yield* preview(tenantId)).contents.mailboxes, 0)
    }).pipe(Effect.provide(TestHost.make().layer.pipe(Layer.provideMerge(CLOCK))))
  )
})
