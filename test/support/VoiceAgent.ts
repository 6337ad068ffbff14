import { openCertificateAuthority } from "@agentos/sandbox"
import { once } from "node:events"
import type { ServerResponse } from "node:http"
import { createServer } from "node:https"
import type { AddressInfo } from "node:net"
import { setTimeout as sleep } from "node:timers/promises"

/** What a number's agent is sent. */
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

/** A callback as it came. */
export interface Callback {
  readonly path: string
  readonly headers: Readonly<Record<string, string | ReadonlyArray<string> | undefined>>
  readonly body: string
  readonly message: AgentMessage
}

/** How an agent answers a turn. */
export type Answer = (message: AgentMessage, response: ServerResponse) => unknown

/** One that sends what may be no answer at all. */
export const sending =
  (body: string): Answer =>
  (_message, response) =>
    response.setHeader("content-type", "application/json").end(body)

/** One that says a thing, in one piece. */
export const saying = (answer: object): Answer => sending(JSON.stringify(answer))

/** One that has moved. */
export const moving: Answer = (_message, response) => response.writeHead(302, { location: "https://127.0.0.1/" }).end()

/** One that says pieces, with a pause after each. */
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

/** Agents behind numbers, on https and this machine: each has a path, and answers there as its test wants. */
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

  /** The address of an agent that answers like this. */
  at(path: string, answer: Answer): string {
    this.answers.set(path, answer)
    return `https://127.0.0.1:${this.port}${path}`
  }

  /** What was sent to one of them. */
  of(path: string): ReadonlyArray<Callback> {
    return this.callbacks.filter((callback) => callback.path === path)
  }
}
