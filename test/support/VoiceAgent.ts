import { openCertificateAuthority } from "@agentos/sandbox"
import { once } from "node:events"
import type { ServerResponse } from "node:http"
import { createServer } from "node:https"
import type { AddressInfo } from "node:net"
import { setTimeout as sleep } from "node:timers/promises"

/** The body of a callback to an agent. */
export interface AgentMessage {
  readonly type: string
  readonly callId: string
  readonly phoneNumberId: string
  readonly direction: string
  readonly from: string
  readonly to: string
  readonly turn: { readonly text: string; readonly at: string }
  readonly transcriptSoFar: ReadonlyArray<{ readonly role: string; readonly text: string; readonly at: string }>
}

/** A received callback. */
export interface Callback {
  readonly path: string
  readonly headers: Readonly<Record<string, string | ReadonlyArray<string> | undefined>>
  readonly body: string
  readonly message: AgentMessage
}

/** How an agent answers a turn. */
export type Answer = (message: AgentMessage, response: ServerResponse) => unknown

/** Responds with a body, which need not be a valid answer. */
export const sending =
  (body: string): Answer =>
  (_message, response) =>
    response.setHeader("content-type", "application/json").end(body)

/** Responds with one answer. */
export const saying = (answer: object): Answer => sending(JSON.stringify(answer))

/** Responds with a redirect. */
export const moving: Answer = (_message, response) => response.writeHead(302, { location: "https://127.0.0.1/" }).end()

/** Streams pieces of an answer with a pause after each. */
export const streaming =
  (pauseMillis: number, ...pieces: ReadonlyArray<object>): Answer =>
  async (_message, response) => {
    response.writeHead(200, { "content-type": "application/x-ndjson" })
    for (const piece of pieces) {
      response.write(`${JSON.stringify(piece)}\n`)
      await sleep(pauseMillis)
    }
    response.end()
  }

/** Agents behind numbers on a local https server. Each has a path and its own answer. */
export class VoiceAgent {
  readonly port: number
  readonly caFile: string
  readonly callbacks: Array<Callback> = []
  readonly close: () => void
  private readonly answers = new Map<string, Answer>()

  private constructor(port: number, caFile: string, close: () => void) {
    this.port = port
    this.caFile = caFile
    this.close = close
  }

  static async start(directory: string): Promise<VoiceAgent> {
    const { caFile, certificate, privateKey } = await openCertificateAuthority(directory)
    const server = createServer({ key: privateKey, cert: certificate }).listen(0, "127.0.0.1")
    await once(server, "listening")
    const agent = new VoiceAgent((server.address() as AddressInfo).port, caFile, () => {
      server.close()
      server.closeAllConnections()
    })
    server.on("request", (request, response) => {
      const chunks: Array<Buffer> = []
      request.on("data", (chunk: Buffer) => chunks.push(chunk))
      request.on("end", () => {
        const body = Buffer.concat(chunks).toString()
        const message = JSON.parse(body) as AgentMessage
        agent.callbacks.push({ path: request.url ?? "", headers: request.headers, body, message })
        const answer = agent.answers.get(request.url ?? "")
        if (answer === undefined) response.writeHead(404).end()
        else answer(message, response)
      })
    })
    return agent
  }

  /** Returns the URL of an agent that gives this answer. */
  at(path: string, answer: Answer): string {
    this.answers.set(path, answer)
    return `https://127.0.0.1:${this.port}${path}`
  }

  /** Returns the callbacks to an agent. */
  of(path: string): ReadonlyArray<Callback> {
    return this.callbacks.filter((callback) => callback.path === path)
  }
}
