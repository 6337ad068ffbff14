import { RequestDelayed, ServerBusy, toWireError } from "@agentos/api"
import { serviceEntry } from "@agentos/core"
import { assert, it } from "@effect/vitest"
import { Effect, Fiber, Latch } from "effect"
import { TestClock } from "effect/testing"
import { NEW_WORK_AT_ONCE, NewWork } from "../../src/operation/NewWork.ts"
import { withinDeadline } from "../../src/operation/Responses.ts"

it.effect("ends an answer after 20 seconds, and says that it may have been carried out", () =>
  Effect.gen(function* () {
    const provider = Latch.makeUnsafe(false)
    let isInterrupted = false
    const answer = Effect.onInterrupt(provider.await, () => Effect.sync(() => (isInterrupted = true)))
    const asking = yield* Effect.forkChild(Effect.flip(withinDeadline(answer)))
    yield* TestClock.adjust("19 seconds")
    assert.isUndefined(asking.pollUnsafe())
    yield* TestClock.adjust("1 second")
    const error = yield* Fiber.join(asking)
    assert.isTrue(isInterrupted)
    const { body, headers, status } = toWireError(error, {
      requestId: "01900000-0000-7000-8000-000000000001",
      method: "POST",
      path: "/api/v1/phone/release-number",
      entry: serviceEntry("phone.number.release"),
      capabilities: { email: true, phone: true },
      paymentState: "none"
    })
    assert.deepInclude(body.error, { code: "SERVICE_UNAVAILABLE", retryable: true })
    assert.match(body.error.message, /may have done what it asks for/)
    assert.deepInclude(headers, { "Retry-After": "5" })
    assert.strictEqual(status, 503)
  })
)

it.effect("leaves an answer that comes in time as it is", () =>
  Effect.map(withinDeadline(Effect.succeed("released")), (answer) => assert.strictEqual(answer, "released"))
)

it.effect("does not wait for work that can't be interrupted", () =>
  Effect.gen(function* () {
    const asking = yield* Effect.forkChild(Effect.flip(withinDeadline(Effect.uninterruptible(Effect.never))))
    yield* TestClock.adjust("20 seconds")
    assert.instanceOf(yield* Fiber.join(asking), RequestDelayed)
  })
)

it.effect("refuses work at once while too much of it is under way, and takes more when some has ended", () =>
  Effect.gen(function* () {
    const { limit } = yield* NewWork
    const slow = Latch.makeUnsafe(false)
    for (let count = 1; count < NEW_WORK_AT_ONCE; count++) yield* Effect.forkChild(limit(slow.await))
    yield* TestClock.adjust(0)
    assert.strictEqual(yield* limit(Effect.succeed("last")), "last")
    const last = yield* Effect.forkChild(limit(slow.await), { startImmediately: true })
    assert.instanceOf(yield* Effect.flip(limit(Effect.succeed("refused"))), ServerBusy)
    yield* Fiber.interrupt(last)
    assert.strictEqual(yield* limit(Effect.succeed("again")), "again")
  }).pipe(Effect.provide(NewWork.layer))
)
