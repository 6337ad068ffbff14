import { type IncomingMessage, type ServerResponse, createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { Result, Schema } from "effect"
import { ChainUnreachable, type FacilitatorOptions, makeFacilitator } from "./Facilitator.ts"
import { Fault, type FaultOperation, makeFaultPlan } from "./FaultPlan.ts"
import { type PaymentRequest, readPaymentRequest } from "./PaymentRequest.ts"

/** A reason that every client of facilitators knows for a plain refusal (x402 version 2, section 9). */
const REJECTED_REASON = "insufficient_funds"

/** A facilitator that serves. */
export interface FacilitatorServer {
  /** Without a path: /verify, /settle and /supported follow. */
  readonly url: string
  readonly port: number
  /** Stops serving and breaks the connections that are left. */
  readonly close: () => Promise<void>
}

export interface FacilitatorServerOptions extends FacilitatorOptions {
  /** 0, which is the default, takes a free port. */
  readonly port?: number
}

/** What becomes of a request: an answer, or a connection that dies now or when the client has had enough. */
type Outcome =
  | { readonly status: number; readonly body: unknown; readonly headers?: Record<string, string> }
  | "drop"
  | "hang"

type Handler = (request: IncomingMessage) => Promise<Outcome>
type Routes = Readonly<Record<string, Readonly<Record<string, Handler>>>>

const bodyBytesMax = 64 * 1_024
const requestMillisMax = 10_000
/** A client with no time-out of its own is let go after this. */
const hangMillisMax = 120_000

/** A request that is answered early. */
class Refusal extends Error {
  readonly status: number
  constructor(status: number, message: string) {
    super(message)
    this.status = status
  }
}

/**
 * Serves a facilitator's standard HTTP interface on 127.0.0.1: POST /verify, POST /settle, GET /supported, and
 * GET /health. A refused payment is an answer like any other (200); 503 says that the chain can't be reached.
 *
 * Beside it, faults for tests: POST /sandbox/faults `{operation, mode, times}` plans one (times is 1 unless given),
 * GET lists what is planned, DELETE clears it; each answers `{faults}` as they then are. See FaultMode.
 */
export const startFacilitator = async (options: FacilitatorServerOptions): Promise<FacilitatorServer> => {
  const routes = facilitatorRoutes(options)
  const server = createServer({ requestTimeout: requestMillisMax }, (request, response) => {
    void answer(routes, request).then((outcome) => send(outcome, response))
  })
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject)
    server.listen(options.port ?? 0, "127.0.0.1", resolve)
  })
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      })
  }
}

const facilitatorRoutes = (options: FacilitatorOptions): Routes => {
  const facilitator = makeFacilitator(options)
  const faults = makeFaultPlan()
  const listed = (): Outcome => ok({ faults: faults.list() })

  /** Does the operation, or fails as the oldest fault planned for it says. */
  const paid =
    (operation: FaultOperation, act: (request: PaymentRequest) => Promise<unknown>, rejected: unknown): Handler =>
    async (request) => {
      const payment = readPaymentRequest(await readJson(request))
      if (payment === undefined) throw new Refusal(400, "not a request of x402 version 2")
      const fault = faults.take(operation)
      if (fault === "before") throw new Refusal(500, "sandbox fault")
      if (fault === "reject") return ok(rejected)
      const done = await act(payment)
      if (fault === "after") return "drop"
      return fault === "hang" ? "hang" : ok(done)
    }

  return {
    "/verify": { POST: paid("verify", facilitator.verify, { isValid: false, invalidReason: REJECTED_REASON }) },
    "/settle": {
      POST: paid("settle", facilitator.settle, {
        success: false,
        errorReason: REJECTED_REASON,
        transaction: "",
        network: `eip155:${options.chainId}`
      })
    },
    "/supported": { GET: async () => ok(facilitator.supported()) },
    "/health": { GET: async () => ok({ status: "ok", blockNumber: Number(await facilitator.height()) }) },
    "/sandbox/faults": {
      GET: async () => listed(),
      POST: async (request) => {
        const fault = decodeFault(await readJson(request))
        if (Result.isFailure(fault)) throw new Refusal(400, String(fault.failure))
        faults.add(fault.success)
        return listed()
      },
      DELETE: async () => {
        faults.clear()
        return listed()
      }
    }
  }
}

const decodeFault = (body: unknown) =>
  Schema.decodeUnknownResult(Fault, { onExcessProperty: "error" })(
    typeof body === "object" && body !== null ? { times: 1, ...body } : body
  )

const ok = (body: unknown): Outcome => ({ status: 200, body })

const failed = (status: number, error: string, headers: Record<string, string> = {}): Outcome => ({
  status,
  body: { error },
  headers
})

/** Finds the handler of a request and turns whatever it throws into an answer. Never rejects. */
const answer = async (routes: Routes, request: IncomingMessage): Promise<Outcome> => {
  const [path = ""] = (request.url ?? "").split("?", 1)
  const methods = routes[path]
  if (methods === undefined) return failed(404, "no such route")
  const handler = methods[request.method ?? "GET"]
  if (handler === undefined) return failed(405, "method not allowed", { Allow: Object.keys(methods).join(", ") })
  try {
    return await handler(request)
  } catch (error) {
    if (error instanceof Refusal) return failed(error.status, error.message, { Connection: "close" })
    if (error instanceof ChainUnreachable) return failed(503, error.message, { "Retry-After": "1" })
    console.error(error)
    return failed(500, "internal error")
  }
}

const send = (outcome: Outcome, response: ServerResponse): void => {
  if (outcome === "drop") return void response.destroy()
  if (outcome === "hang") {
    const letGo = setTimeout(() => response.destroy(), hangMillisMax)
    response.once("close", () => clearTimeout(letGo))
    return
  }
  response.writeHead(outcome.status, { "Content-Type": "application/json", ...outcome.headers })
  response.end(JSON.stringify(outcome.body))
}

/** The body of a request, as long as it is JSON, says so, and isn't too long. */
const readJson = async (request: IncomingMessage): Promise<unknown> => {
  // A page in a browser can send other types here without asking.
  if (!/^application\/json\b/i.test(request.headers["content-type"] ?? "")) throw new Refusal(415, "JSON expected")
  const chunks: Array<Buffer> = []
  let length = 0
  // Leaving this loop early must not cut the connection that is to carry the answer.
  for await (const chunk of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    length += chunk.length
    if (length > bodyBytesMax) throw new Refusal(413, `body over ${bodyBytesMax} bytes`)
    chunks.push(chunk)
  }
  try {
    return JSON.parse(Buffer.concat(chunks).toString()) as unknown
  } catch {
    throw new Refusal(400, "not JSON")
  }
}
