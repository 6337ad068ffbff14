import { AuditStore, Operators, StoreUnavailable } from "@agentos/core"
import { Memory } from "@agentos/memory"
import { toWireError } from "@agentos/api"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Layer, Redacted } from "effect"
import { HttpServerRequest } from "effect/http"
import { TestClock } from "effect/testing"
import { makeRouter } from "../../src/edge/Routing.ts"
import { RequestFacts, RequestRecord } from "../../src/edge/Route.ts"
import {
  type Answer,
  dataResponse,
  long,
  mutation,
  type OperatorRoute,
  read,
  serveOperators
} from "../../src/handler/operator/OperatorRoute.ts"
import { BodyMemory } from "../../src/operation/BodyMemory.ts"

const TOKEN = "0123456789abcdef0123456789abcdef"
const layer = Layer.mergeAll(Operators.layer.pipe(Layer.provideMerge(Memory.layer)), BodyMemory.layer)

/** Returns the answer of the only route in a time, and whether it came before the deadline; undefined if there is none. */
const answering = Effect.fnUntraced(function* (route: OperatorRoute, seconds: number) {
  const routes = yield* serveOperators(Redacted.make(TOKEN), [route])
  const record = new RequestFacts("id", makeRouter(routes)(route.method, route.path), 0)
  const request = HttpServerRequest.fromWeb(
    new Request(`http://host${route.path}`, { method: route.method, headers: { authorization: `Bearer ${TOKEN}` } })
  )
  const answer = (routes[0]!.handler(request, record) as Answer).pipe(
    Effect.map(({ status }) => ({ status, message: "", retryable: false })),
    Effect.catch((error) => {
      const { method, path } = route
      const capabilities = { email: true, phone: true }
      const failed = { requestId: "id", method, path, entry: null, capabilities, paymentState: "none" } as const
      const { body, status } = toWireError(error, failed)
      const { message, retryable } = body.error
      return Effect.succeed({ status, message, retryable })
    }),
    Effect.provideService(RequestRecord, record),
    Effect.provideService(HttpServerRequest.HttpServerRequest, request),
    Effect.scoped
  )
  const working = yield* Effect.forkDetach(answer)
  yield* TestClock.adjust("19 seconds")
  const isEarly = working.pollUnsafe() !== undefined
  yield* TestClock.adjust(`${seconds - 19} seconds`)
  if (working.pollUnsafe() !== undefined) return { ...(yield* Fiber.join(working)), isEarly }
  working.interruptUnsafe()
  return undefined
})

/** An answer that waits as long as nothing interrupts it. */
const hanging: Answer = Effect.never
const dataless = dataResponse({})
const without = Effect.die(
  new StoreUnavailable({ message: "the database does not answer", isUndone: false, cause: undefined })
)

/** A change that is committed with its record, before what follows it. */
const committed = (then: Answer) =>
  Effect.map(Operators, ({ add }): Answer =>
    Effect.andThen(Effect.orDie(add({ name: "ada", role: "read" }, "digest")), then)
  )

const changing = (answer: Answer) => mutation("change", "money", "operator.add", "/internal/change", answer)
const DELAYED = { status: 503, isEarly: false }
const EARLY = { status: 503, isEarly: true }

describe("a request of an operator", () => {
  const cases = [
    ["that reads", Effect.succeed(read("show", "/internal/show", hanging)), 20, /Nothing was changed/, true, []],
    ["that has changed nothing yet", Effect.succeed(changing(hanging)), 20, /Nothing was changed/, true, ["failed"]],
    ["whose change is made", Effect.map(committed(hanging), changing), 20, /The change was made/, false, ["succeeded"]],
    [
      "whose change can't be interrupted, and may be made",
      Effect.succeed(changing(Effect.uninterruptible(hanging))),
      22,
      /is not known/,
      false,
      []
    ]
  ] as const
  for (const [name, made, seconds, message, retryable, outcomes] of cases) {
    it.effect(`${name} is answered in time, and says so`, () =>
      Effect.gen(function* () {
        const answer = yield* answering(yield* made, seconds)
        assert.deepInclude(answer, { ...DELAYED, retryable })
        assert.match(answer?.message ?? "", message)
        const { list } = yield* AuditStore
        assert.deepStrictEqual(
          (yield* list({ limit: 9 })).map(({ outcome }) => outcome),
          [...outcomes]
        )
      }).pipe(Effect.provide(layer))
    )
  }

  it.effect("says whether it changed something if the database fails", () =>
    Effect.gen(function* () {
      const before = yield* answering(changing(without), 20)
      assert.deepInclude(before, { ...EARLY, retryable: true })
      assert.deepInclude(yield* answering(yield* Effect.map(committed(without), changing), 20), {
        ...EARLY,
        retryable: false
      })
      const broken = Effect.die(new Error("after the commit"))
      const made = yield* Effect.map(Operators, ({ rotate }): Answer =>
        Effect.andThen(Effect.orDie(rotate("ada", {}, "other")), broken)
      )
      assert.deepInclude(yield* answering(changing(made), 20), { ...EARLY, retryable: false })
    }).pipe(Effect.provide(layer))
  )

  it.effect("may take longer if its route is a long one", () =>
    Effect.gen(function* () {
      for (const route of [changing(Effect.delay(dataless, "1 minute")), read("show", "/internal/show", hanging)]) {
        assert.strictEqual(yield* answering(long(route), 59), undefined)
      }
      const ended = yield* answering(long(changing(Effect.delay(dataless, "1 minute"))), 60)
      assert.strictEqual(ended?.status, 200)
    }).pipe(Effect.provide(layer))
  )
})
