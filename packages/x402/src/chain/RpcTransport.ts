import {
  BaseError,
  type Client,
  createClient,
  createTransport,
  HttpRequestError,
  RpcRequestError,
  TimeoutError,
  type Transport
} from "viem"
import { exchangeHttp, ExchangeTimeout, isSuccess } from "../HttpExchange.ts"

export interface RpcTransportOptions {
  readonly url: string
  /** Time limit of an HTTP request. */
  readonly timeoutMillis: number
  /** Size limit of an HTTP response. */
  readonly answerBytesMax: number
}

/** Limit of requests in one batch. The widely used providers accept it. */
export const BATCH_MAX = 50

interface RpcRequest {
  readonly method: string
  readonly params?: unknown
}

type RpcCall = {
  readonly jsonrpc: "2.0"
  readonly id: number
  readonly method: string
  readonly params?: unknown
}
type RpcBody = RpcCall | Array<RpcCall>

interface RpcAnswer {
  readonly id?: unknown
  readonly result?: unknown
  readonly error?: { readonly code: number; readonly message: string } | undefined
}

/** A request that waits for the end of this turn of the event loop. */
interface Waiting {
  readonly request: RpcRequest
  readonly resolve: (answer: RpcAnswer) => void
  readonly reject: (cause: unknown) => void
}

/**
 * A transport of viem that sends the requests of one turn of the event loop in one HTTP request (JSON-RPC 2.0, section 6).
 * A single request is sent as it is. If the node refuses a batch as such, its requests are sent again one by one, and so
 * are all later ones. A failed HTTP request is repeated once.
 */
export const rpcTransport = ({ answerBytesMax, timeoutMillis, url }: RpcTransportOptions): Transport => {
  const exchange = httpClient({ answerBytesMax, timeoutMillis, url })
  let waiting: Array<Waiting> = []
  let takesBatches = true

  const sendAlone = ({ reject, request, resolve }: Waiting): void =>
    void exchange({ jsonrpc: "2.0", id: 1, ...request }).then((answer) => resolve(answer as RpcAnswer), reject)

  const sendBatch = async (batch: ReadonlyArray<Waiting>): Promise<void> => {
    let answers: unknown
    try {
      answers = await exchange(batch.map(({ request }, id) => ({ jsonrpc: "2.0", id, ...request })))
    } catch (cause) {
      if (!isOfBatch(cause)) return batch.forEach(({ reject }) => reject(cause))
    }
    const byId = answersById(answers)
    if (byId === undefined || !batch.every((_, id) => byId.has(id))) {
      takesBatches = false
      return batch.forEach(sendAlone)
    }
    batch.forEach(({ resolve }, id) => resolve(byId.get(id)!))
  }

  const send = () => {
    const taken = waiting
    waiting = []
    if (!takesBatches || taken.length === 1) return taken.forEach(sendAlone)
    for (let start = 0; start < taken.length; start += BATCH_MAX) {
      void sendBatch(taken.slice(start, start + BATCH_MAX))
    }
  }

  const ask = (request: RpcRequest): Promise<RpcAnswer> =>
    new Promise((resolve, reject) => {
      if (waiting.push({ request, resolve, reject }) === 1) setImmediate(send)
    })

  return () =>
    createTransport({
      key: "http",
      name: "HTTP JSON-RPC",
      type: "http",
      retryCount: 1,
      retryDelay: 100,
      // A caller names the type of its answer, as with viem's own transports.
      request: async <A>({ method, params }: RpcRequest): Promise<A> => {
        const { error, result } = await ask({ method, params })
        if (error !== undefined) throw new RpcRequestError({ body: { method, params }, error, url })
        return result as A
      }
    })
}

/** Size limit of a node's response. */
const ANSWER_BYTES_MAX = 4 * 1_024 * 1_024

/** Makes a client of a node that caches nothing. */
export const rpcClient = (url: string, timeoutMillis: number): Client =>
  createClient({ transport: rpcTransport({ url, timeoutMillis, answerBytesMax: ANSWER_BYTES_MAX }), cacheTime: 0 })

const failureOf = (answer: unknown): RpcAnswer["error"] =>
  typeof answer === "object" && answer !== null ? (answer as RpcAnswer).error : undefined

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/**
 * Returns a function that sends JSON and returns the JSON of the answer. It rejects with the errors of viem's own client:
 * for an answer without JSON, and for a failure whose body is not an error of JSON-RPC.
 */
const httpClient = ({ answerBytesMax, timeoutMillis, url }: RpcTransportOptions) => {
  const exchange = exchangeHttp({ url, answerBytesMax })
  const send = async (body: RpcBody): Promise<unknown> => {
    // An id is unique within its HTTP request, which is all that a node can rely on.
    const answer = await exchange({ body: JSON.stringify(body), timeoutMillis })
    const value = parsed(answer.body)
    const error = failureOf(value)
    if (isSuccess(answer) && value !== undefined) return value
    if (typeof error?.code === "number" && typeof error.message === "string") return value
    throw new HttpRequestError({
      body,
      details: value === undefined ? "the answer is not JSON" : JSON.stringify(error ?? value).slice(0, DETAILS_MAX),
      status: answer.status,
      url
    })
  }
  return (body: RpcBody): Promise<unknown> =>
    send(body).catch((cause: unknown) => {
      if (cause instanceof HttpRequestError) throw cause
      if (cause instanceof ExchangeTimeout) throw new TimeoutError({ body, url })
      throw new HttpRequestError({ body, cause: cause as Error, url })
    })
}

/** Length of an unexpected answer that an error quotes, in characters. */
const DETAILS_MAX = 200

/** Returns whether an HTTP request failed because of its form, so that its parts may succeed. */
const isOfBatch = (cause: unknown): boolean =>
  cause instanceof HttpRequestError &&
  cause.status !== undefined &&
  cause.status >= 400 &&
  cause.status < 500 &&
  ![401, 403, 408, 429].includes(cause.status)

/** Returns the answers to a batch, or undefined if the node has answered it as one request. */
const answersById = (answers: unknown): ReadonlyMap<unknown, RpcAnswer> | undefined => {
  if (!Array.isArray(answers)) return undefined
  const known = answers.filter((answer): answer is RpcAnswer => typeof answer === "object" && answer !== null)
  // A node that refuses a batch may answer each of its requests with the error.
  const isRefused = known.length > 1 && known.every(({ error }) => error?.code === INVALID_REQUEST)
  return isRefused ? undefined : new Map(known.map((answer) => [answer.id, answer]))
}

/** "Invalid Request" (JSON-RPC 2.0, section 5.1). */
const INVALID_REQUEST = -32_600

/** Returns whether an error means that the chain could not be reached, and not that it answered no. */
export const isOutage = (error: unknown): boolean =>
  !(error instanceof BaseError) ||
  error.walk(
    (cause) =>
      cause instanceof HttpRequestError ||
      cause instanceof TimeoutError ||
      (cause instanceof RpcRequestError && cause.code !== REVERTED && !REVERTS.test(nodeMessages(cause)))
  ) !== null

/**
 * Returns whether a node answered that it can't read the state of a block. Nodes use different codes and messages for it, so that
 * every error of a node counts except those about its load.
 */
export const isMissingState = (error: unknown): boolean =>
  error instanceof BaseError &&
  error.walk((cause) => cause instanceof HttpRequestError || cause instanceof TimeoutError) === null &&
  error.walk((cause) => cause instanceof RpcRequestError && !LOAD_CODES.has(cause.code)) !== null

/** "Limit exceeded" (EIP-1474), and what providers return for too many requests. */
const LOAD_CODES: ReadonlySet<number> = new Set([-32_005, -32_029, 429])

/** The code of geth and its derivatives for a call that reverted. */
const REVERTED = 3

/** The messages of nodes for a failed simulation, which counts as an answer. A contract can fail in each of these ways. */
const REVERTS =
  /revert|out of ?gas|gas required exceeds|always failing|opcode|invalid ?jump|stack ?(under|over|limit)|write protection|return data out of bounds|\bE?VM (execution )?error/i

/** Returns a node's messages for matching. They must never be shown: they may contain the node's URL with its key. */
export const nodeMessages = (error: unknown): string => {
  const messages: Array<string> = []
  for (let cause = error, depth = 0; cause instanceof Error && depth < 8; cause = cause.cause, depth++) {
    messages.push(cause instanceof BaseError ? `${cause.shortMessage} ${cause.details}` : cause.message)
  }
  return messages.join(" ")
}
