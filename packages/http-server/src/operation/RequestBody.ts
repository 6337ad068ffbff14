import { type BodyMemoryExhausted, BodyTooLarge, RequestTimedOut } from "@agentos/api"
import { type InvalidRequest, type JsonBudget, JsonScanner } from "@agentos/core"
import { Effect, type Scope, Stream } from "effect"
import { HttpServerRequest } from "effect/http"
import { createHash, hash } from "node:crypto"
import { IncomingMessage } from "node:http"
import { whileOthersRun } from "../edge/RequestConcurrency.ts"
import { declaredLength, DEFAULT_BODY_LIMITS } from "../edge/RequestLimits.ts"
import { RequestRecord } from "../edge/Route.ts"
import { type BodyLease, BodyMemory } from "./BodyMemory.ts"
import { type ReceivedBytes, refusal } from "./Decoding.ts"

/** A body as received, byte for byte. */
export interface RequestBody extends ReceivedBytes {
  readonly lengthBytes: number
  /** SHA-256 of the bytes, in hex. A payment is bound to it. */
  readonly hash: string
}

const unreadable = refusal([{ path: "", message: "is incomplete. Send it again" }])
const tooLong = refusal([{ path: "", message: "is longer than its Content-Length" }])

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
 * A body that is still arriving, of at most `maxBytes`. The first bytes use a small buffer. A longer body moves to a
 * resizable one, which reserves addresses for that length, and memory for the bytes that have arrived. Its memory is
 * returned to the system when it is freed, and not when garbage is collected.
 */
class ArrivingBody {
  #buffer: ArrayBuffer
  #bytes: Uint8Array
  #length = 0
  #reservedBytes = UNCOUNTED_BYTES
  readonly #maxBytes: number
  readonly #lease: BodyLease

  constructor(maxBytes: number, lease: BodyLease) {
    this.#buffer = new ArrayBuffer(Math.min(maxBytes, UNCOUNTED_BYTES))
    this.#bytes = new Uint8Array(this.#buffer)
    this.#maxBytes = maxBytes
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
      this.#grow(Math.min(this.#maxBytes, this.#reservedBytes))
      this.#write(chunk)
    })
  }

  readonly free = (): void => {
    if (this.#buffer.resizable) this.#buffer.resize(0)
  }

  #grow(length: number): void {
    if (this.#buffer.resizable) {
      this.#buffer.resize(length)
      return
    }
    const first = this.bytes
    this.#buffer = new ArrayBuffer(length, { maxByteLength: this.#maxBytes })
    this.#bytes = new Uint8Array(this.#buffer)
    this.#bytes.set(first)
  }

  #write(chunk: Uint8Array): void {
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

/** Hashes and scans a long body while it arrives, so that no step over all its bytes delays other requests. */
class ArrivingDigest {
  readonly #sha256 = createHash("sha256")
  readonly #scanner: JsonScanner | undefined

  /** Without a budget, the body is not JSON. */
  constructor(budget: JsonBudget | undefined) {
    this.#scanner = budget === undefined ? undefined : new JsonScanner(budget)
  }

  get isScanned(): boolean {
    return this.#scanner !== undefined
  }

  readonly hash = (): string => this.#sha256.digest("hex")

  /** Fails if the text exceeds its budget, while most of it may be still in transit. */
  readonly add = (chunk: Uint8Array): Effect.Effect<void, InvalidRequest> => {
    this.#sha256.update(chunk)
    const flaw = this.#scanner?.scan(chunk)
    return flaw === undefined ? Effect.void : Effect.fail(refusal([flaw]))
  }
}

/**
 * Returns the body of a request whose last byte has been parsed. A body of this length needs none of the protections of
 * one that is still arriving.
 */
const takeArrived = (source: IncomingMessage, declaredBytes: number): RequestBody | undefined => {
  if (!source.complete || source.readableLength !== declaredBytes) return undefined
  const bytes: unknown = source.read()
  return bytes instanceof Uint8Array ? received(bytes) : undefined
}

/**
 * Waits until Node has parsed the bytes that it has read of the connection. It parses the headers first, so a body is
 * never there when its request is handled at once; and its end comes after the ticks that follow its last byte.
 */
const packetParsed = Effect.callback<void>((resume) => void setImmediate(resume, Effect.void))

/** Reads a body as long as the client keeps sending and memory is available. */
const receive = Effect.fnUntraced(function* (
  request: HttpServerRequest.HttpServerRequest,
  declaredBytes: number | undefined,
  limitBytes: number
) {
  const { route } = (yield* RequestRecord).match
  const limits = route?.body ?? null
  const maxBytes = declaredBytes ?? limitBytes
  const exceeded = declaredBytes === undefined ? new BodyTooLarge({ limitBytes }) : tooLong
  // A short body is refused later, when its payment has been looked up.
  const digest = maxBytes > UNCOUNTED_BYTES ? new ArrivingDigest(limits?.json) : undefined
  const body = yield* whileOthersRun(
    Effect.gen(function* () {
      const memory = yield* BodyMemory
      const lease = yield* memory.lease(request.remoteAddress, Math.max(0, (declaredBytes ?? 0) - UNCOUNTED_BYTES))
      const arriving = yield* Effect.acquireRelease(
        Effect.sync(() => new ArrivingBody(maxBytes, lease)),
        ({ free }) => Effect.sync(free)
      )
      const arrived = Stream.runForEach(
        Stream.mapError(request.stream, () => unreadable),
        (chunk): Effect.Effect<void, BodyMemoryExhausted | BodyTooLarge | InvalidRequest> =>
          chunk.length > maxBytes - arriving.length
            ? Effect.fail(exceeded)
            : Effect.andThen(arriving.append(chunk), digest === undefined ? Effect.void : digest.add(chunk))
      )
      yield* Effect.raceFirst(arrived, failIfSlow(arriving))
      return arriving
    })
  )
  const { bytes, free } = body
  if (declaredBytes !== undefined && bytes.length < declaredBytes) return yield* unreadable
  if (digest === undefined) return { ...received(bytes), free }
  return { bytes, free, isScanned: digest.isScanned, lengthBytes: bytes.length, hash: digest.hash() }
})

/**
 * Reads the body of the request once, as long as the client keeps sending and memory is available: up to the declared
 * length, or up to the limit of the route if the request declares none. The edge has already refused a declared length
 * beyond the limit, and chunks of HTTP/1.1. The memory is released with the scope of the request.
 */
export const readBodyWithin = (
  limitBytes: number
): Effect.Effect<
  RequestBody,
  BodyMemoryExhausted | BodyTooLarge | InvalidRequest | RequestTimedOut,
  BodyMemory | HttpServerRequest.HttpServerRequest | RequestRecord | Scope.Scope
> =>
  Effect.flatMap(HttpServerRequest.HttpServerRequest, (request) => {
    const declaredBytes = declaredLength(request)
    if (declaredBytes === 0) return Effect.succeed(NO_BODY)
    const { source } = request
    if (declaredBytes === undefined || declaredBytes > UNCOUNTED_BYTES || !(source instanceof IncomingMessage))
      return receive(request, declaredBytes, limitBytes)
    const arrived = takeArrived(source, declaredBytes)
    if (arrived !== undefined) return Effect.succeed(arrived)
    return Effect.flatMap(packetParsed, () => {
      const short = takeArrived(source, declaredBytes)
      return short === undefined ? receive(request, declaredBytes, limitBytes) : Effect.succeed(short)
    })
  })

/** Reads the body of the request within the limit of its route. */
export const readBody = Effect.flatMap(RequestRecord, ({ match: { route } }) =>
  readBodyWithin((route?.body ?? DEFAULT_BODY_LIMITS).bytes)
)

const received = (bytes: Uint8Array): RequestBody => ({
  lengthBytes: bytes.length,
  bytes,
  free: () => {},
  isScanned: false,
  hash: hash("sha256", bytes)
})

/** The value for a request without a body. */
export const NO_BODY = received(new Uint8Array(0))
