import { type BodyMemoryExhausted, RequestTimedOut } from "@agentos/api"
import { InvalidRequest, type JsonBudget, scanJson } from "@agentos/core"
import { Effect, type Scope, Stream } from "effect"
import { HttpServerRequest } from "effect/http"
import { createHash } from "node:crypto"
import { whileOthersRun } from "../edge/RequestConcurrency.ts"
import { jsonBudgetOf, pathOf } from "../edge/RequestLimits.ts"
import { isWebhook } from "../webhook/WebhookPath.ts"
import { type BodyLease, BodyMemory } from "./BodyMemory.ts"
import { refusal } from "./Decoding.ts"

/** A body as it came, byte for byte. */
export interface RequestBody {
  readonly bytes: Uint8Array
  /** SHA-256 of the bytes, in hex: what a payment is bound to. */
  readonly hash: string
}

const unreadable = new InvalidRequest({
  message: "The body could not be read to its end.",
  issues: [{ path: "", message: "could not be read" }]
})

/**
 * The first bytes of a body are not counted, as its headers are not: a connection costs as much anyway, and small
 * requests are answered while large ones use up the memory.
 */
const UNCOUNTED_BYTES = 16 * 1024

/** In each window a client sends so many bytes of its body, or the rest of it: 13 KB/s. */
const WINDOW = "10 seconds"
const WINDOW_BYTES = 128 * 1024

/** How much memory is reserved at a time. */
const RESERVED_AT_ONCE_BYTES = 64 * 1024

/**
 * A body as it arrives, of which the server's parser hands over no more than was declared. Its first bytes have a buffer
 * of their own, all of it has one from then on.
 */
class ArrivingBody {
  #bytes: Uint8Array
  #length = 0
  #reservedBytes = UNCOUNTED_BYTES
  readonly #declaredBytes: number
  readonly #lease: BodyLease

  constructor(declaredBytes: number, lease: BodyLease) {
    this.#bytes = new Uint8Array(Math.min(declaredBytes, UNCOUNTED_BYTES))
    this.#declaredBytes = declaredBytes
    this.#lease = lease
  }

  get length(): number {
    return this.#length
  }

  /** What has arrived. */
  get bytes(): Uint8Array {
    return this.#bytes.subarray(0, this.#length)
  }

  readonly append = (chunk: Uint8Array): Effect.Effect<void, BodyMemoryExhausted> => {
    const missingBytes = this.#length + chunk.length - this.#reservedBytes
    if (missingBytes <= 0) return Effect.sync(() => this.#write(chunk))
    const bytes = Math.ceil(missingBytes / RESERVED_AT_ONCE_BYTES) * RESERVED_AT_ONCE_BYTES
    return Effect.map(this.#lease.reserve(bytes), () => {
      this.#reservedBytes += bytes
      this.#write(chunk)
    })
  }

  #write(chunk: Uint8Array): void {
    if (this.#length + chunk.length > this.#bytes.length) {
      const whole = new Uint8Array(this.#declaredBytes)
      whole.set(this.bytes)
      this.#bytes = whole
    }
    this.#bytes.set(chunk, this.#length)
    this.#length += chunk.length
  }
}

/** Fails once a window has brought too little of the body. */
const failIfSlow = (body: ArrivingBody): Effect.Effect<never, RequestTimedOut> =>
  Effect.suspend(() => {
    const before = body.length
    return Effect.andThen(
      Effect.sleep(WINDOW),
      Effect.suspend(() => (body.length - before < WINDOW_BYTES ? Effect.fail(new RequestTimedOut()) : Effect.void))
    )
  }).pipe(Effect.forever)

/**
 * Appends chunks of a JSON body, and scans its beginning each time that its length has doubled, so that a body beyond
 * its budget is refused while most of it is still on its way.
 */
const scanning = (body: ArrivingBody, budget: JsonBudget) => {
  let nextScanBytes = UNCOUNTED_BYTES
  const append = (chunk: Uint8Array): Effect.Effect<void, BodyMemoryExhausted | InvalidRequest> => {
    const untilScanBytes = nextScanBytes - body.length
    if (chunk.length < untilScanBytes) return body.append(chunk)
    return Effect.flatMap(body.append(chunk.subarray(0, untilScanBytes)), () => {
      nextScanBytes *= 2
      const flaw = scanJson(body.bytes, budget)
      return flaw === undefined ? append(chunk.subarray(untilScanBytes)) : Effect.fail(refusal([flaw]))
    })
  }
  return append
}

/**
 * Reads the body of the request, once: as long as its headers say, and only as long as its client sends it and there is
 * memory for it. The edge has refused a length beyond the limit of the path, and a body that declares none. The memory is
 * released with the scope of the request.
 */
export const readBody: Effect.Effect<
  RequestBody,
  BodyMemoryExhausted | InvalidRequest | RequestTimedOut,
  BodyMemory | HttpServerRequest.HttpServerRequest | Scope.Scope
> = Effect.gen(function* () {
  const request = yield* HttpServerRequest.HttpServerRequest
  const memory = yield* BodyMemory
  const path = pathOf(request.url)
  const lease = yield* memory.lease(request.remoteAddress)
  const body = new ArrivingBody(Number(request.headers["content-length"] ?? 0), lease)
  const arriving = Stream.runForEach(
    Stream.mapError(request.stream, () => unreadable),
    isWebhook(path) ? body.append : scanning(body, jsonBudgetOf(path))
  )
  yield* whileOthersRun(Effect.raceFirst(arriving, failIfSlow(body)))
  const { bytes } = body
  return { bytes, hash: createHash("sha256").update(bytes).digest("hex") }
})

/** What a request that has no body is read as. */
export const NO_BODY: RequestBody = { bytes: new Uint8Array(0), hash: createHash("sha256").digest("hex") }
