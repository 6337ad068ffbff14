import type { Context } from "../command/Handler.ts"
import { isRecord } from "../file/JsonValue.ts"
import { Failure } from "../failure/Failure.ts"
import { VERSION } from "../Version.ts"
import { apiFailure } from "./ApiFailure.ts"
import type { Answer, Request } from "./Exchange.ts"
import { namesProxy, useProxy } from "./Proxy.ts"
import { type OperationName, type Operations, ROUTES } from "./Routes.ts"

const TIMEOUT_MILLIS = 30_000
/** After how long without an answer somebody who looks on is told what is waited for. */
const SLOW_MILLIS = 10_000
const ANSWER_LIMIT_BYTES = 64 * 1024 * 1024
/** Waits before the second and the third attempt. */
const PAUSES_MILLIS = [250, 1_000]
/** A server that asks for more patience than this is told of instead. */
const PATIENCE_MILLIS = 5_000

/** What an operation takes. */
export interface CallInput<Name extends OperationName> {
  readonly params?: Operations[Name]["params"]["Encoded"]
  readonly query?: Readonly<Record<string, string | number | undefined>>
  readonly payload?: Operations[Name]["payload"]["Encoded"]
}

/** What `data` of an operation's answer is. */
export type DataOf<Name extends OperationName> = Operations[Name]["data"]["Encoded"]

/** A path with its parameters filled in. */
const pathOf = (pattern: string, params: unknown): string =>
  pattern.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
    encodeURIComponent(isRecord(params) ? String(params[name]) : "")
  )

/** A query string with its question mark; empty where nothing is asked. */
export const queryOf = (query: Readonly<Record<string, string | number | undefined>>): string => {
  const given = Object.entries(query).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, String(value)] as [string, string]]
  )
  return given.length === 0 ? "" : `?${new URLSearchParams(given).toString()}`
}

const readText = async (response: Response): Promise<string> => {
  const decoder = new TextDecoder()
  let text = ""
  let length = 0
  for await (const chunk of response.body ?? []) {
    length += chunk.length
    if (length > ANSWER_LIMIT_BYTES)
      throw new Failure({ code: "UNEXPECTED_ANSWER", message: "The answer is longer than 64 MiB." })
    text += decoder.decode(chunk, { stream: true })
  }
  return text + decoder.decode()
}

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Speaks to one server, with one token or none. */
export class ApiClient {
  readonly #context: Context
  readonly baseUrl: string
  readonly #token: string | undefined

  constructor(context: Context, baseUrl: string, token: string | undefined) {
    this.#context = context
    this.baseUrl = baseUrl
    this.#token = token
  }

  /** Calls an operation and gives the `data` of its answer. The server is trusted for its shape; only the envelope is checked. */
  async call<Name extends OperationName>(name: Name, input: CallInput<Name> = {}): Promise<DataOf<Name>> {
    const route = ROUTES[name]
    const answer = await this.send({
      method: route.method,
      path: `${pathOf(route.path, input.params)}${queryOf(input.query ?? {})}`,
      repeatable: route.repeatable,
      ...(input.payload === undefined ? {} : { body: JSON.stringify(input.payload) })
    })
    return this.dataOf(answer) as DataOf<Name>
  }

  /** The `data` of a success; throws the failure that any other answer is. */
  dataOf(answer: Answer): unknown {
    const envelope = answer.status >= 200 && answer.status < 300 ? answer.json() : undefined
    if (isRecord(envelope) && isRecord(envelope["data"])) return envelope["data"]
    throw apiFailure(answer, this.baseUrl)
  }

  /** Sends a request; again, where it is repeatable, after a lost answer or one that says to try again. */
  async send(request: Request): Promise<Answer> {
    const { host, output } = this.#context
    for (const pause of request.repeatable ? PAUSES_MILLIS : []) {
      const outcome = await this.#attempt(request).catch((error: unknown) => {
        if (host.signal.aborted || !(error instanceof Failure) || error.parts.code !== "UNREACHABLE") throw error
        return error
      })
      const wait = outcome instanceof Failure ? pause : waitFor(outcome, pause)
      if (wait === undefined && !(outcome instanceof Failure)) return outcome
      output.note(
        outcome instanceof Failure ? `${outcome.message} Trying again.` : "The server asks for a moment. Trying again."
      )
      await host.sleep(wait ?? pause)
    }
    return this.#attempt(request)
  }

  async #attempt({ body, headers = {}, method, path }: Request): Promise<Answer> {
    const { host, output } = this.#context
    await useProxy(host)
    const timeout = AbortSignal.timeout(TIMEOUT_MILLIS)
    const slow = setTimeout(() => output.note(`Waiting for ${this.baseUrl}…`), SLOW_MILLIS)
    try {
      const response = await fetch(`${this.baseUrl}${path}`, {
        method,
        // A token is for the server that was named, and not for whom it names.
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
      const text = await readText(response)
      return {
        status: response.status,
        headers: response.headers,
        text,
        requestId: response.headers.get("x-request-id") ?? undefined,
        json: () => parsed(text)
      }
    } catch (error) {
      if (error instanceof Failure || host.signal.aborted) throw error
      const why = timeout.aborted
        ? `did not answer within ${TIMEOUT_MILLIS / 1_000} s`
        : `can't be reached (${reasonOf(error)}${namesProxy(host, this.baseUrl) ? "; the environment names a proxy" : ""})`
      throw new Failure({
        code: "UNREACHABLE",
        message: `${this.baseUrl} ${why}.`,
        retryable: true,
        next: ["agentctl config list"]
      })
    } finally {
      clearTimeout(slow)
    }
  }
}

/** The system's word for why a connection failed, beneath what fetch says. */
const reasonOf = (error: unknown): string => {
  const cause = error instanceof Error ? error.cause : undefined
  if (cause instanceof Error && "code" in cause && typeof cause.code === "string")
    return cause.code === "UND_ERR_SOCKET" ? "the connection broke off" : cause.code
  return cause instanceof Error ? cause.message : String(error)
}

/** How long to wait before the same request again; undefined where its answer stands. */
const waitFor = (answer: Answer, pause: number): number | undefined => {
  if (answer.status !== 429 && answer.status < 500) return undefined
  const envelope = answer.json()
  const retryable = isRecord(envelope) && isRecord(envelope["error"]) && envelope["error"]["retryable"] === true
  if (!retryable) return undefined
  const asked = Number(answer.headers.get("retry-after") ?? "0") * 1_000
  return asked > PATIENCE_MILLIS ? undefined : Math.max(pause, asked)
}
