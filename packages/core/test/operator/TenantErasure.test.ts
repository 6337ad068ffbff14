import { TenantAdministration, TenantErasure, Timestamp } from "@agentos/core"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Layer } from "effect"
import { TestClock } from "effect/testing"
import * as Mailboxes from "../../contract-tests/email/MailboxSample.ts"
import { StoreClock } from "../../contract-tests/StoreClock.ts"
import * as TestHost from "../support/TestHost.ts"

const CLOCK = Layer.succeed(StoreClock, { now: Timestamp.now, advance: (millis) => TestClock.adjust(millis) })

describe("an erasure", () => {
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
