import type { AgentOsOptions, Clock, WebSocketLike } from "@agentos/client"
import { privateKeyToAccount } from "viem/accounts"

export const BASE_URL = "https://agentos.example"
export const account = privateKeyToAccount(`0x${"11".repeat(32)}`)

const USDT = { network: "eip155:196", asset: "0x779Ded0c9e1022225f8E0630b35a9b54bE713736" }

/** Encodes a header of x402. */
export const header = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString("base64")

/** Returns a 402 answer with a challenge over 0.25 of USDT. */
export const challenge = (changes: object = {}): Response =>
  Response.json(
    { error: { code: "PAYMENT_REQUIRED", message: "Payment required.", requestId: "r", retryable: false } },
    {
      status: 402,
      headers: {
        "payment-required": header({
          x402Version: 2,
          resource: { url: BASE_URL },
          accepts: [
            {
              scheme: "exact",
              ...USDT,
              amount: "250000",
              payTo: `0x${"22".repeat(20)}`,
              maxTimeoutSeconds: 60,
              extra: { name: "USDT0", version: "1" },
              ...changes
            }
          ]
        })
      }
    }
  )

export const failure = (status: number, error: object, headers: Record<string, string> = {}): Response =>
  Response.json({ error: { message: "No.", requestId: "r", retryable: false, ...error } }, { status, headers })

export const success = (data: object, status = 200): Response =>
  Response.json({ data, requestId: "r", guide: "/docs" }, { status })

/** The answer to a request: a response, or the error of a lost one. */
export type Answer = Response | Error

/** A time that passes only in sleeps. */
export class TestClock implements Clock {
  time = Date.parse("2026-01-31T12:00:00.000Z")
  readonly sleeps: Array<number> = []

  readonly now = () => this.time

  readonly sleep = async (millis: number): Promise<void> => {
    this.sleeps.push(millis)
    this.time += millis
    await Promise.resolve()
  }
}

/** A server that answers the requests to each path in the order of a script, and repeats the last answer. */
export const scripted = (script: Readonly<Record<string, ReadonlyArray<Answer>>>) => {
  const requests: Array<{ readonly path: string; readonly headers: Headers; readonly body: unknown }> = []
  const counts = new Map<string, number>()
  const signatures: Array<unknown> = []
  const clock = new TestClock()
  const wallet: NonNullable<AgentOsOptions["wallet"]> = {
    address: account.address,
    signTypedData: (typed) => {
      signatures.push(typed)
      return account.signTypedData(typed)
    },
    signMessage: (message) => {
      signatures.push(message)
      return account.signMessage(message)
    }
  }
  const fetch: NonNullable<AgentOsOptions["fetch"]> = async (url, init) => {
    const { pathname: path } = new URL(url)
    requests.push({ path, headers: new Headers(init.headers), body: init.body })
    const answers = script[path] ?? []
    const count = counts.get(path) ?? 0
    counts.set(path, count + 1)
    const answer = answers[Math.min(count, answers.length - 1)] ?? failure(404, { code: "RESOURCE_NOT_FOUND" })
    if (answer instanceof Error) throw answer
    return answer.clone()
  }
  return {
    requests,
    signatures,
    clock,
    options: { wallet, fetch, clock, spend: { perDay: "10.00" } } satisfies AgentOsOptions,
    to: (path: string) => requests.filter((request) => request.path === path)
  }
}

type Listener = Parameters<WebSocketLike["addEventListener"]>[1]

/** A gateway in the place of a WebSocket. Each connection is a session. */
export class ScriptedGateway {
  readonly sessions: Array<ScriptedSession> = []
  readonly WebSocket: NonNullable<AgentOsOptions["WebSocket"]>

  constructor(onMessage: (session: ScriptedSession, message: Readonly<Record<string, unknown>>) => void) {
    const { sessions } = this
    this.WebSocket = class extends ScriptedSession {
      constructor(url: string) {
        super(url, onMessage)
        sessions.push(this)
      }
    }
  }
}

export class ScriptedSession implements WebSocketLike {
  readyState = 0
  readonly url: string
  readonly received: Array<Readonly<Record<string, unknown>>> = []
  readonly #listeners = new Map<string, Array<Listener>>()
  readonly #onMessage: (session: ScriptedSession, message: Readonly<Record<string, unknown>>) => void

  constructor(url: string, onMessage: (session: ScriptedSession, message: Readonly<Record<string, unknown>>) => void) {
    this.url = url
    this.#onMessage = onMessage
    queueMicrotask(() => {
      if (this.readyState !== 0) return
      this.readyState = 1
      this.#emit("open", {})
    })
  }

  readonly addEventListener: WebSocketLike["addEventListener"] = (type, listener) => {
    this.#listeners.set(type, [...(this.#listeners.get(type) ?? []), listener])
  }

  readonly send = (text: string): void => {
    const message: Readonly<Record<string, unknown>> = JSON.parse(text)
    this.received.push(message)
    queueMicrotask(() => this.#onMessage(this, message))
  }

  close(code = 1000, reason = ""): void {
    if (this.readyState === 3) return
    this.readyState = 3
    queueMicrotask(() => this.#emit("close", { code, reason }))
  }

  /** Sends a message to the client. */
  tell(message: object): void {
    this.#emit("message", { data: JSON.stringify(message) })
  }

  #emit(type: string, event: Parameters<Listener>[0]): void {
    for (const listener of this.#listeners.get(type) ?? []) listener(event)
  }
}
