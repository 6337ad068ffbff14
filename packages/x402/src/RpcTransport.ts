import { createTransport, HttpRequestError, RpcRequestError, type Transport } from "viem"
import { getHttpRpcClient } from "viem/utils"

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
  const http = getHttpRpcClient(url, { timeout: timeoutMillis, maxResponseBodySize: answerBytesMax })
  let waiting: Array<Waiting> = []
  let takesBatches = true

  const sendAlone = ({ reject, request, resolve }: Waiting): void =>
    void http.request({ body: request }).then(resolve, reject)

  const sendBatch = async (batch: ReadonlyArray<Waiting>): Promise<void> => {
    let answers: unknown
    try {
      answers = await http.request({ body: batch.map(({ request }, id) => ({ ...request, id })) })
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
