import { once } from "node:events"
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"

/**
 * How requests are handled. `through`: forwarded. `loses` and `holds`: a payment is forwarded, but its answer is dropped
 * or held back. `silent`: nothing is forwarded or answered.
 */
export type Manner = "through" | "loses" | "holds" | "silent"

const bodyOf = async (request: IncomingMessage): Promise<string> => {
  let body = ""
  for await (const chunk of request.setEncoding("utf8")) body += chunk
  return body
}

const PASSED = ["authorization", "content-type", "idempotency-key", "payment-signature"]

/** The addresses on loopback that proxies of this process have used. The first is that of their targets. */
let addresses = 1

/** An HTTP proxy that simulates network failures between a client and a server. */
export class PaidProxy {
  manner: Manner = "through"
  /** The number of forwarded payments. */
  handed = 0
  /** Called when a request is not answered, or the answer to a payment is held back. */
  onHeld: () => void = () => undefined
  /** Called when a payment is forwarded, before its answer. */
  onHanded: () => void = () => undefined
  private readonly server: Server
  private readonly target: string

  private constructor(target: string) {
    this.target = target
    this.server = createServer((request, response) => {
      this.handle(request, response).catch(() => request.socket.destroy())
    })
  }

  /**
   * Listens on the port of the target under another address of this machine: payments are bound to the server that the client
   * connects to.
   */
  static async start(target: string): Promise<PaidProxy> {
    const proxy = new PaidProxy(target)
    proxy.server.listen(Number(new URL(target).port), `127.0.0.${++addresses}`)
    await once(proxy.server, "listening")
    return proxy
  }

  get url(): string {
    const { address, port } = this.server.address() as AddressInfo
    return `http://${address}:${port}`
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections()
    await new Promise((resolve) => this.server.close(resolve))
  }

  private async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await bodyOf(request)
    const headers = PASSED.flatMap((name): Array<[string, string]> => {
      const value = request.headers[name]
      return typeof value === "string" ? [[name, value]] : []
    })
    const isPaid = headers.some(([name]) => name === "payment-signature")
    const { manner } = this
    if (manner === "silent") return this.onHeld()
    const answering = fetch(`${this.target}${request.url}`, {
      method: request.method ?? "GET",
      headers,
      ...(body === "" ? {} : { body })
    })
    if (isPaid) {
      this.handed++
      this.onHanded()
    }
    const answer = await answering
    const text = await answer.text()
    if (isPaid && manner === "loses") return void request.socket.destroy()
    if (isPaid && manner === "holds") return this.onHeld()
    const kept = ["content-type", "payment-required", "payment-response", "retry-after", "x-request-id"]
    response.writeHead(
      answer.status,
      kept.flatMap((name): Array<[string, string]> => {
        const value = answer.headers.get(name)
        return value === null ? [] : [[name, value]]
      })
    )
    response.end(text)
  }
}
