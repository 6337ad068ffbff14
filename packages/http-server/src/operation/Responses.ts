import { type ApiOperation, RequestDelayed, toWireError } from "@agentos/api"
import { type Answer, type Capabilities, PaymentRequired } from "@agentos/core"
import { Duration, Effect, Fiber, Option, Redacted } from "effect"
import { HttpServerResponse } from "effect/http"
import { type RequestFacts, RequestRecord } from "../edge/Route.ts"

const JSON_TYPE = "application/json"

/** Wraps the result of an operation in the success envelope. */
export const successResponse = ({ entry, status }: ApiOperation, requestId: string, data: unknown) =>
  HttpServerResponse.text(JSON.stringify({ data, requestId, guide: entry.guide }), { status, contentType: JSON_TYPE })

/** Node writes a text together with the headers, and bytes beside them. Encoding a longer text takes more time than that. */
const TEXT_LENGTH_MAX = 16 * 1024

/** Returns how to wrap data that are already JSON text in the success envelope. */
export const preparedResponse = ({ entry }: ApiOperation, data: string, headers: Readonly<Record<string, string>>) => {
  const options = { headers, contentType: JSON_TYPE }
  const [before, after] = [`{"data":${data},"requestId":"`, `","guide":${JSON.stringify(entry.guide)}}`]
  if (before.length < TEXT_LENGTH_MAX)
    return ({ requestId }: RequestFacts) => HttpServerResponse.text(before + requestId + after, options)
  const [first, last] = [Buffer.from(before), Buffer.from(after)]
  return ({ requestId }: RequestFacts) => {
    const bytes = Buffer.allocUnsafe(first.length + requestId.length + last.length)
    first.copy(bytes)
    bytes.write(requestId, first.length, "latin1")
    last.copy(bytes, first.length + requestId.length)
    return HttpServerResponse.uint8Array(bytes, options)
  }
}

/** Returns the response of a paid operation, with the same bytes and headers each time. */
export const paidResponse = (answer: Answer) =>
  Effect.map(RequestRecord, (record) => {
    if (record.requestId !== answer.requestId) record.repeats = answer.requestId
    return HttpServerResponse.text(Redacted.value(answer.body), {
      status: answer.created ? 201 : 200,
      contentType: JSON_TYPE,
      headers: { "x-request-id": answer.requestId, "payment-response": answer.receipt }
    })
  })

/**
 * How long the work of a request may take, once its token is checked and its body has arrived. Payments have their own time
 * in the core.
 */
export const ANSWER_WITHIN = Duration.seconds(20)

/** Interrupts an answer that takes too long, and answers with `late` in its place. */
export const withinDeadlineOr = Effect.fnUntraced(function* <A, E, R, L, S>(
  answer: Effect.Effect<A, E, R>,
  late: (interrupted: Fiber.Fiber<A, E>) => Effect.Effect<A, L, S>,
  within: Duration.Duration = ANSWER_WITHIN
): Effect.fn.Return<A, E | L, R | S> {
  // Its fiber has no parent, which would wait for it: a commit can't be interrupted, and its answer may take long.
  const working = yield* Effect.forkDetach(answer, { startImmediately: true })
  const ended = yield* Fiber.await(working).pipe(
    Effect.timeoutOption(within),
    Effect.onInterrupt(() => Fiber.interrupt(working))
  )
  if (Option.isSome(ended)) return yield* ended.value
  working.interruptUnsafe()
  return yield* late(working)
})

/** Fails an answer that takes too long, and interrupts it. */
export const withinDeadline = <A, E, R>(answer: Effect.Effect<A, E, R>) =>
  withinDeadlineOr(answer, (): Effect.Effect<never, RequestDelayed> => Effect.fail(new RequestDelayed()))

/** Parts of the envelope that differ between two requests, in their order. */
const REQUEST_ID = "{requestId}"
const PATH = "{path}"

const prepare = ({ entry }: ApiOperation, capabilities: Capabilities) => {
  const required = new PaymentRequired({ challenge: "", reason: null })
  const { body, status } = toWireError(required, {
    requestId: REQUEST_ID,
    method: entry.method,
    path: PATH,
    entry,
    capabilities,
    paymentState: "none"
  })
  const [beforeId = "", afterId = ""] = JSON.stringify(body).split(REQUEST_ID)
  const [beforePath = "", end = ""] = afterId.split(JSON.stringify(PATH))
  return { status, start: beforeId, middle: beforePath, end }
}

/**
 * Returns the function that answers a request without payment with its challenge, the value of PAYMENT-REQUIRED. The
 * response is that of `PaymentRequired`, with an envelope that is prepared on the first request.
 */
export const challengeResponse = (operation: ApiOperation, capabilities: Capabilities) => {
  let prepared: ReturnType<typeof prepare> | undefined
  return (record: RequestFacts, path: string, challenge: string): HttpServerResponse.HttpServerResponse => {
    const { end, middle, start, status } = (prepared ??= prepare(operation, capabilities))
    record.code = "PAYMENT_REQUIRED"
    return HttpServerResponse.text(start + record.requestId + middle + JSON.stringify(path) + end, {
      status,
      contentType: "application/json",
      headers: { "payment-required": challenge }
    })
  }
}
