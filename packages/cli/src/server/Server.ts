import type { AgentOs, Answer, PaymentOption } from "@agentos/client"
import type { Context } from "../context/Context.ts"
import { isRecord } from "../file/Json.ts"
import { openAgent } from "./Agent.ts"
import { apiFailure, failureOf } from "./ApiFailure.ts"
import { type OperationName, type Operations, ROUTES } from "./Routes.ts"

export interface Request {
  readonly method: string
  /** With the query. */
  readonly path: string
  /** Sent exactly as given. */
  readonly body?: string | undefined
  readonly headers?: Readonly<Record<string, string>>
  /** Whether the request can be retried without an answer. Default: it is sent once. */
  readonly repeatable?: boolean
}

export interface CallInput<Name extends OperationName> {
  readonly params?: Operations[Name]["params"]["Encoded"]
  readonly query?: Readonly<Record<string, string | number | boolean | undefined>>
  readonly payload?: Operations[Name]["payload"]["Encoded"]
  readonly headers?: Readonly<Record<string, string>>
}

/** The `data` of an operation's response. */
export type DataOf<Name extends OperationName> = Operations[Name]["data"]["Encoded"]

/** The body of an operation's request. */
export type PayloadOf<Name extends OperationName> = Operations[Name]["payload"]["Encoded"]

const pathOf = (pattern: string, params: unknown): string =>
  pattern.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
    encodeURIComponent(isRecord(params) ? String(params[name]) : "")
  )

const requestOf = <Name extends OperationName>(name: Name, input: CallInput<Name>): Request => {
  const route = ROUTES[name]
  return {
    method: route.method,
    path: `${pathOf(route.path, input.params)}${queryOf(input.query ?? {})}`,
    repeatable: route.repeatable,
    ...(input.headers === undefined ? {} : { headers: input.headers }),
    ...(input.payload === undefined ? {} : { body: JSON.stringify(input.payload) })
  }
}

/** Formats a query string with its question mark; empty without parameters. */
export const queryOf = (query: Readonly<Record<string, string | number | boolean | undefined>>): string => {
  const given = Object.entries(query).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, String(value)] as [string, string]]
  )
  return given.length === 0 ? "" : `?${new URLSearchParams(given).toString()}`
}

/** Returns the time of the server from a response, rounded down to the second; undefined without a Date header. */
export const serverTime = (headers: Headers): string | undefined => {
  const millis = Date.parse(headers.get("date") ?? "")
  return Number.isNaN(millis) ? undefined : new Date(millis).toISOString()
}

/** The free operations of one server, with one token or none. Throws errors of the client as failures. */
export class Server {
  readonly baseUrl: string
  readonly #context: Context
  readonly #token: string | undefined
  #agent: Promise<AgentOs> | undefined

  constructor(context: Context, baseUrl: string, token: string | undefined) {
    this.#context = context
    this.baseUrl = baseUrl
    this.#token = token
  }

  /** Calls an operation and returns the `data` of its response, of which only the envelope is validated. */
  async call<Name extends OperationName>(name: Name, input: CallInput<Name> = {}): Promise<DataOf<Name>> {
    return this.dataOf(await this.send(requestOf(name, input))) as DataOf<Name>
  }

  /** Calls an operation, and also returns the time of the server, or that of this machine if the server does not tell. */
  async callAt<Name extends OperationName>(
    name: Name,
    input: CallInput<Name> = {}
  ): Promise<{ readonly data: DataOf<Name>; readonly time: string }> {
    const answer = await this.send(requestOf(name, input))
    const time = serverTime(answer.headers) ?? new Date(this.#context.host.now()).toISOString()
    return { data: this.dataOf(answer) as DataOf<Name>, time }
  }

  /** Calls an operation that returns a file. */
  async download<Name extends "getAttachment" | "getRawMessage">(
    name: Name,
    params: Operations[Name]["params"]["Encoded"]
  ): Promise<Uint8Array> {
    const answer = await this.#send({ ...requestOf(name, { params }), isDownload: true })
    if (answer.status === 200) return answer.bytes
    throw apiFailure(answer, this.baseUrl)
  }

  /** Returns the `data` of a successful response; throws the failure of any other. */
  dataOf(answer: Answer): Readonly<Record<string, unknown>> {
    const { json, status } = answer
    const data = status >= 200 && status < 300 && isRecord(json) ? json["data"] : undefined
    if (isRecord(data)) return data
    throw apiFailure(answer, this.baseUrl)
  }

  /** Sends a request. Retries a repeatable one after a lost or retryable answer. */
  send(request: Request): Promise<Answer> {
    return this.#send(request)
  }

  /** Sends a request of a paid operation without a payment, and returns the ways to pay. Throws any other obstacle. */
  async quote(request: Request): Promise<ReadonlyArray<PaymentOption>> {
    return this.#with((agent) => agent.quote(request, { signal: this.#context.host.signal }))
  }

  #send({ repeatable, ...request }: Request & { readonly isDownload?: boolean }): Promise<Answer> {
    const { signal } = this.#context.host
    return this.#with((agent) => agent.request({ ...request, isRepeatable: repeatable }, { signal }))
  }

  async #with<Result>(use: (agent: AgentOs) => Promise<Result>): Promise<Result> {
    const tokens = { get: () => this.#token, set: () => undefined }
    this.#agent ??= openAgent(this.#context, this.baseUrl, { tokens })
    try {
      return await use(await this.#agent)
    } catch (error) {
      throw failureOf(error, this.baseUrl)
    }
  }
}
