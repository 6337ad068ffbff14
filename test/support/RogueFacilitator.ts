import { createServer, type IncomingMessage } from "node:http"
import type { AddressInfo } from "node:net"
import { authorizationIn } from "./Authorization.ts"

/** An answer to /settle. */
export interface SettleAnswer {
  readonly status: number
  readonly body: string
}

/** Answers one request to settle an authorization. `settle` has the honest facilitator settle it. */
export type Misconduct = (settle: () => Promise<SettleAnswer>) => Promise<SettleAnswer>

/** A facilitator between servers and an honest one, which misbehaves as it is told. */
export interface RogueFacilitator {
  readonly url: string
  /** Sets the URL of the honest facilitator. */
  readonly imitate: (url: string) => void
  /** Decides about the next request to settle an authorization. Later ones, and those of other nonces, are passed on. */
  readonly misbehaveOnce: (nonce: string, misconduct: Misconduct) => void
  /** Returns how often servers have asked it to settle an authorization. */
  readonly requestsFor: (nonce: string) => number
  readonly stop: () => void
}

export const startRogueFacilitator = async (): Promise<RogueFacilitator> => {
  let honest = ""
  const misconducts = new Map<string, Misconduct>()
  const requests = new Map<string, number>()

  const passOn = async (path: string, body: string): Promise<SettleAnswer> => {
    const question = body === "" ? {} : { method: "POST", body, headers: { "content-type": "application/json" } }
    const answer = await fetch(honest + path, question)
    return { status: answer.status, body: await answer.text() }
  }
  const answerTo = async (path: string, body: string): Promise<SettleAnswer> => {
    const settle = () => passOn(path, body)
    const nonce = path === "/settle" ? nonceIn(body) : undefined
    if (nonce === undefined) return settle()
    requests.set(nonce, (requests.get(nonce) ?? 0) + 1)
    const misconduct = misconducts.get(nonce)
    misconducts.delete(nonce)
    return misconduct === undefined ? settle() : misconduct(settle)
  }
  const server = createServer((request, response) => {
    void textOf(request)
      .then((body) => answerTo(request.url ?? "", body))
      .then(
        ({ body, status }) => response.writeHead(status, { "content-type": "application/json" }).end(body),
        () => response.destroy()
      )
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    imitate: (url) => void (honest = url),
    misbehaveOnce: (nonce, misconduct) => void misconducts.set(nonce.toLowerCase(), misconduct),
    requestsFor: (nonce) => requests.get(nonce.toLowerCase()) ?? 0,
    stop: () => {
      server.close()
      server.closeAllConnections()
    }
  }
}

const textOf = async (request: IncomingMessage): Promise<string> => {
  const chunks: Array<Buffer> = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString()
}

const nonceIn = (body: string): string => {
  const { paymentPayload } = JSON.parse(body) as {
    readonly paymentPayload: { readonly payload: Readonly<Record<string, unknown>> }
  }
  return authorizationIn(paymentPayload.payload).nonce
}
