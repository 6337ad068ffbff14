import { type Answer, dataIn } from "@agentos/client/internal"
import { Failure } from "@agentos/command-line"
import type { Context } from "../context/Context.ts"
import { isRecord, parseJson } from "../file/Json.ts"
import { VERSION } from "../Version.ts"
import { apiFailure } from "./ApiFailure.ts"
import { useProxy, usesProxy } from "./Proxy.ts"
import { type OperationName, type Operations, ROUTES } from "./Routes.ts"

const TIMEOUT_MILLIS = 30_000
/** A larger body has more time, so that attachments can be sent over a slow line. */
const SENT_BYTES_PER_MILLI = 50
/** A message with attachments needs longer on a slow line. */
const DOWNLOAD_TIMEOUT_MILLIS = 600_000
/** When the user is told that the server is slow. */
const SLOW_MILLIS = 10_000
const ANSWER_LIMIT_BYTES = 64 * 1024 * 1024
/** Delays before the second and the third attempt. */
const RETRY_MILLIS = [250, 1_000]
/** A longer Retry-After is reported instead of waited for. */
const MAX_RETRY_MILLIS = 5_000

export interface Request {
  readonly method: string
  /** With the query. */
  readonly path: string
  /** Sent exactly as given. */
  readonly body?: string | undefined
  readonly headers?: Readonly<Record<string, string>>
  /** Whether the request can be retried without an answer. Default: it is sent once. */
  readonly repeatable?: boolean
  readonly timeoutMillis?: number
}

/** The input of an operation. */
export interface CallInput<Name extends OperationName> {
  readonly params?: Operations[Name]["params"]["Encoded"]
  readonly query?: Readonly<Record<string, string | number | undefined>>
  readonly payload?: Operations[Name]["payload"]["Encoded"]
  readonly headers?: Readonly<Record<string, string>>
}

/** The `data` of an operation's response. */
export type DataOf<Name extends OperationName> = Operations[Name]["data"]["Encoded"]

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
export const queryOf = (query: Readonly<Record<string, string | number | undefined>>): string => {
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

/** Reads the body of a response; fails if it has more bytes than the limit. */
export const readBody = async (response: Response, limitBytes = ANSWER_LIMIT_BYTES): Promise<Buffer> => {
  const chunks: Array<Uint8Array> = []
  let length = 0
  for await (const chunk of response.body ?? []) {
    length += chunk.length
    if (length > limitBytes)
      throw new Failure({
        code: "UNEXPECTED_ANSWER",
        message: `The response is larger than ${limitBytes / 1_048_576} MiB.`
      })
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

/** A client of one server, with one token or none. */
export class ApiClient {
  readonly #context: Context
  readonly baseUrl: string
  readonly #token: string | undefined

  constructor(context: Context, baseUrl: string, token: string | undefined) {
    this.#context = context
    this.baseUrl = baseUrl
    this.#token = token
  }

  /** Calls an operation and returns the `data` of its response, of which only the envelope is validated. */
  async call<Name extends OperationName>(name: Name, input: CallInput<Name> = {}): Promise<DataOf<Name>> {
    return this.dataOf(await this.send(requestOf(name, input))) as DataOf<Name>
  }

  /** Calls an operation that returns a file. */
  async download<Name extends "getAttachment" | "getRawMessage">(
    name: Name,
    params: Operations[Name]["params"]["Encoded"]
  ): Promise<Uint8Array> {
    const headers = { Accept: "*/*" }
    const timeoutMillis = DOWNLOAD_TIMEOUT_MILLIS
    const answer = await this.send({ ...requestOf(name, { params }), headers, timeoutMillis })
    if (answer.status === 200) return answer.bytes
    throw apiFailure(answer, this.baseUrl)
  }

  /** Returns the `data` of a successful response; throws the failure of any other. */
  dataOf(answer: Answer): Readonly<Record<string, unknown>> {
    const data = dataIn(answer)
    if (data !== undefined) return data
    throw apiFailure(answer, this.baseUrl)
  }

  /** Sends a request. Retries a repeatable one after a lost or retryable answer. */
  async send(request: Request): Promise<Answer> {
    const { host, output } = this.#context
    for (const delay of request.repeatable === true ? RETRY_MILLIS : []) {
      const outcome = await this.#attempt(request).catch((error: unknown) => {
        if (host.signal.aborted || !(error instanceof Failure) || error.parts.code !== "UNREACHABLE") throw error
        return error
      })
      const wait = outcome instanceof Failure ? delay : retryDelay(outcome, delay)
      if (wait === undefined && !(outcome instanceof Failure)) return outcome
      output.note(outcome instanceof Failure ? `${outcome.message} Retrying.` : "The server is busy. Retrying.")
      await host.sleep(wait ?? delay)
    }
    return this.#attempt(request)
  }

  async #attempt(request: Request): Promise<Answer> {
    const { body, headers = {}, method, path, timeoutMillis = timeoutFor(body) } = request
    const { host, output } = this.#context
    await useProxy(host)
    const timeout = AbortSignal.timeout(timeoutMillis)
    const slow = setTimeout(() => output.note(`Waiting for ${this.baseUrl}…`), SLOW_MILLIS)
    try {
      const response = await fetch(`${this.baseUrl}${path}`, {
        method,
        // A redirect could send the token to another server.
        redirect: "manual",
        signal: AbortSignal.any([host.signal, timeout]),
        headers: {
          Accept: "application/json",
          "User-Agent": `agentctl/${VERSION}`,
          ...(body === undefined ? {} : { "Content-Type": "application/json" }),
          ...(this.#token === undefined ? {} : { Authorization: `Bearer ${this.#token}` }),
          ...headers
        },
        ...(body === undefined ? {} : { body })
      })
      const bytes = await readBody(response)
      return {
        status: response.status,
        headers: response.headers,
        bytes,
        get json() {
          return parseJson(new TextDecoder().decode(bytes))
        }
      }
    } catch (error) {
      if (error instanceof Failure || host.signal.aborted) throw error
      const proxy = usesProxy(host, this.baseUrl) ? "; a proxy is set in the environment" : ""
      const message = timeout.aborted
        ? `${this.baseUrl} did not answer within ${Math.round(timeoutMillis / 1_000)} s.`
        : `Cannot reach ${this.baseUrl} (${reasonOf(error)}${proxy}).`
      throw new Failure({ code: "UNREACHABLE", message, retryable: true, next: ["agentctl config list"] })
    } finally {
      clearTimeout(slow)
    }
  }
}

const timeoutFor = (body = ""): number => TIMEOUT_MILLIS + Math.floor(body.length / SENT_BYTES_PER_MILLI)

/** Returns the system's reason for a failed connection, which fetch hides in the cause. */
const reasonOf = (error: unknown): string => {
  const cause = error instanceof Error ? error.cause : undefined
  if (cause instanceof Error && "code" in cause && typeof cause.code === "string")
    return cause.code === "UND_ERR_SOCKET" ? "the connection was closed" : cause.code
  return cause instanceof Error ? cause.message : String(error)
}

/** Returns the delay before a retry; undefined if the answer is final. */
const retryDelay = (answer: Answer, delay: number): number | undefined => {
  if (answer.status !== 429 && answer.status < 500) return undefined
  const envelope = answer.json
  const retryable = isRecord(envelope) && isRecord(envelope["error"]) && envelope["error"]["retryable"] === true
  if (!retryable) return undefined
  const asked = Number(answer.headers.get("retry-after") ?? "0") * 1_000
  return asked > MAX_RETRY_MILLIS ? undefined : Math.max(delay, asked)
}

/** A page of a list. */
export interface Page<Item> {
  readonly items: ReadonlyArray<Item>
  readonly nextCursor: string | null
}

const PAGE_SIZE = 100

/** Fetches pages until `limit` items or the end. The returned cursor continues from there. */
export const collectPages = async <Item>(
  limit: number,
  cursor: string | undefined,
  fetchPage: (limit: number, cursor: string | undefined) => Promise<Page<Item>>
): Promise<Page<Item>> => {
  const items: Array<Item> = []
  let position = cursor
  for (;;) {
    const page = await fetchPage(Math.min(PAGE_SIZE, limit - items.length), position)
    items.push(...page.items)
    if (page.nextCursor === null || items.length >= limit || page.items.length === 0)
      return { items, nextCursor: page.nextCursor }
    position = page.nextCursor
  }
}
