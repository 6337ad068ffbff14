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

it.effect("ends each work under the limit 20 seconds after it began, also after others have ended", () =>
  Effect.gen(function* () {
    const { limit } = yield* NewWork
    const ended: Array<string> = []
    const begin = (name: string) => {
      const work = Effect.onInterrupt(Effect.never, () => Effect.sync(() => ended.push(name)))
      return Effect.forkChild(Effect.flip(limit(work)), { startImmediately: true })
    }
    const first = yield* begin("first")
    const quick = yield* Effect.forkChild(limit(Effect.as(Effect.sleep("1 second"), "quick")), {
      startImmediately: true
    })
    yield* TestClock.adjust("5 seconds")
    assert.strictEqual(yield* Fiber.join(quick), "quick")
    const second = yield* begin("second")
    yield* TestClock.adjust("14 seconds")
    assert.deepStrictEqual(ended, [])
    yield* TestClock.adjust("1 second")
    assert.instanceOf(yield* Fiber.join(first), RequestDelayed)
    yield* TestClock.adjust("4 seconds")
    assert.deepStrictEqual(ended, ["first"])
    yield* TestClock.adjust("1 second")
    assert.instanceOf(yield* Fiber.join(second), RequestDelayed)
    yield* TestClock.adjust("1 hour")
    const third = yield* begin("third")
    yield* TestClock.adjust("19 seconds")
    assert.deepStrictEqual(ended, ["first", "second"])
    yield* TestClock.adjust("1 second")
    assert.instanceOf(yield* Fiber.join(third), RequestDelayed)
  }).pipe(Effect.provide(NewWork.layer))
)

it.effect(
  "interrupts work under the limit with its request, and does not wait for work that can't be interrupted",
  () =>
    Effect.gen(function* () {
      const { limit } = yield* NewWork
      let interruptions = 0
      const note = () => Effect.sync(() => interruptions++)
      const gone = yield* Effect.forkChild(limit(Effect.onInterrupt(Effect.never, note)), { startImmediately: true })
      const itself = yield* Effect.forkChild(
        Effect.withFiber((request) =>
          limit(
            Effect.andThen(
              Effect.sync(() => request.interruptUnsafe()),
              Effect.onInterrupt(Effect.never, note)
            )
          )
        )
      )
      yield* Fiber.await(itself)
      assert.strictEqual(interruptions, 1)
      const commit = Effect.uninterruptible(Effect.never)
      const asking = yield* Effect.forkChild(Effect.flip(limit(commit)), { startImmediately: true })
      yield* Fiber.interrupt(gone)
      assert.strictEqual(interruptions, 2)
      yield* TestClock.adjust("20 seconds")
      assert.instanceOf(yield* Fiber.join(asking), RequestDelayed)
    }).pipe(Effect.provide(NewWork.layer))
)

it.effect("ends work under the limit also after a callback of other work threw", () =>
  Effect.gen(function* () {
    const { limit } = yield* NewWork
    const services = yield* Effect.context<never>()
    const broken = Effect.runForkWith(services)(limit(Effect.never))
    broken.addObserver(() => {
      throw new Error("a callback")
    })
    yield* TestClock.adjust("20 seconds")
    const later = yield* Effect.forkChild(Effect.flip(limit(Effect.never)), { startImmediately: true })
    yield* TestClock.adjust("20 seconds")
    assert.instanceOf(yield* Fiber.join(later), RequestDelayed)
  }).pipe(Effect.provide(NewWork.layer))
)
