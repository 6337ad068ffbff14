import { type BodyMemoryExhausted, RequestTimedOut } from "@agentos/api"
import { type InvalidRequest, type JsonBudget, scanJson } from "@agentos/core"
import { Effect, type Scope, Stream } from "effect"
import { HttpServerRequest } from "effect/http"
import { createHash } from "node:crypto"
import { whileOthersRun } from "../edge/RequestConcurrency.ts"
import { RouteMatch } from "../edge/Routing.ts"
import { type BodyLease, BodyMemory } from "./BodyMemory.ts"
import { refusal } from "./Decoding.ts"

/** A body as received, byte for byte. */
export interface RequestBody {
  readonly lengthBytes: number
  /** Returns the bytes, and keeps no reference to them: a large body must not stay in memory while it is worked on. */
  readonly take: () => Uint8Array
  /** SHA-256 of the bytes, in hex. A payment is bound to it. */
  readonly hash: string
}

const unreadable = refusal([{ path: "", message: "is incomplete. Send it again" }])

/**
 * The first bytes of a body are not counted, and neither are its headers: a connection costs as much anyway, and small
 * requests are still answered while large ones use up the memory.
 */
const UNCOUNTED_BYTES = 16 * 1024

/** Within each window a client must send this many bytes of its body, or the rest of it: 13 KB/s. */
const WINDOW = "10 seconds"
const WINDOW_BYTES = 128 * 1024

/** Amount of memory that is reserved at a time. */
const RESERVED_AT_ONCE_BYTES = 64 * 1024

/**
 * A body that is still arriving. The server's parser delivers no more than the declared length. The first bytes use a
 * small buffer; a longer body moves to a buffer of the declared length.
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

  /** The bytes received so far. */
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

/** Fails once a window has delivered too little of the body. */
const failIfSlow = (body: ArrivingBody): Effect.Effect<never, RequestTimedOut> =>
  Effect.suspend(() => {
    const before = body.length
    return Effect.andThen(
      Effect.sleep(WINDOW),
      Effect.suspend(() => (body.length - before < WINDOW_BYTES ? Effect.fail(new RequestTimedOut()) : Effect.void))
    )
  }).pipe(Effect.forever)

/**
 * Appends chunks of a JSON body, and scans the received bytes each time their length has doubled, so that a body beyond
 * its budget is refused while most of it is still in transit.
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
 * Reads the body of the request once, up to the declared length, as long as the client keeps sending and memory is
 * available. The edge has already refused a length beyond the limit of the route, and a body without a declared length.
 * The memory is released with the scope of the request.
 */
export const readBody: Effect.Effect<
  RequestBody,
  BodyMemoryExhausted | InvalidRequest | RequestTimedOut,
  BodyMemory | HttpServerRequest.HttpServerRequest | RouteMatch | Scope.Scope
> = Effect.gen(function* () {
  const request = yield* HttpServerRequest.HttpServerRequest
  const memory = yield* BodyMemory
  const { route } = yield* RouteMatch
  const limits = route?.body ?? null
  const lease = yield* memory.lease(request.remoteAddress)
  const body = new ArrivingBody(Number(request.headers["content-length"] ?? 0), lease)
  const arriving = Stream.runForEach(
    Stream.mapError(request.stream, () => unreadable),
    limits === null ? body.append : scanning(body, limits.json)
  )
  yield* whileOthersRun(Effect.raceFirst(arriving, failIfSlow(body)))
  return requestBody(body.bytes)
})

const requestBody = (bytes: Uint8Array): RequestBody => {
  let held: Uint8Array | undefined = bytes
  return {
    lengthBytes: bytes.length,
    take: () => {
      if (held === undefined) throw new Error("the body of this request was taken before")
      const taken = held
      held = undefined
      return taken
    },
    hash: createHash("sha256").update(bytes).digest("hex")
  }
}

/** The value for a request without a body. */
export const NO_BODY: RequestBody = {
  lengthBytes: 0,
  take: () => new Uint8Array(0),
  hash: createHash("sha256").digest("hex")
}
