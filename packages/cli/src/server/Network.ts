import { AgentOsError, type AgentOsOptions, isLoopback } from "@agentos/client"
import { Failure } from "@agentos/node/command-line"
import type { Context } from "../context/Context.ts"
import type { Host } from "../host/Host.ts"
import { VERSION } from "../Version.ts"

/** When the user is told that the server is slow. */
const SLOW_MILLIS = 10_000
const ANSWER_LIMIT_BYTES = 64 * 1024 * 1024

/** Reads the body of a response; fails if it has more bytes than the limit. */
export const readBody = async (response: Response, limitBytes = ANSWER_LIMIT_BYTES): Promise<Buffer<ArrayBuffer>> => {
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

/** Returns the system's reason for a failed connection, which fetch hides in the cause. */
const reasonOf = (error: unknown): string => {
  const cause = error instanceof Error ? error.cause : undefined
  if (cause instanceof Error && "code" in cause && typeof cause.code === "string")
    return cause.code === "UND_ERR_SOCKET" ? "the connection was closed" : cause.code
  return cause instanceof Error ? cause.message : String(error)
}

/** Returns the status with which the proxy of the environment refused to connect, which undici states in a cause of the cause. */
const proxyStatusOf = (error: unknown): number | undefined => {
  if (!(error instanceof Error)) return undefined
  const [, status] = /^Proxy response \((\d{3})\)/.exec(error.message) ?? []
  return status === undefined ? proxyStatusOf(error.cause) : Number(status)
}

/** Returns why a server was not reached. */
const obstacleOf = (error: unknown, isProxied: boolean): string => {
  const status = proxyStatusOf(error)
  if (status === 407) return "the proxy of the environment answered 407: put its user and password into HTTPS_PROXY"
  if (status !== undefined) return `the proxy of the environment answered ${status}`
  return isProxied ? `${reasonOf(error)}; a proxy is set in the environment` : reasonOf(error)
}

const PROXY_VARIABLES = ["https_proxy", "HTTPS_PROXY", "http_proxy", "HTTP_PROXY"]
const LOOPBACK = ["localhost", "127.0.0.1", "::1"]

let isProxyInUse = false

/** Whether requests to this URL may go through a proxy of the environment. */
const usesProxy = ({ env }: Host, url: string): boolean =>
  PROXY_VARIABLES.some((name) => (env[name] ?? "") !== "") && !isLoopback(new URL(url).hostname)

/**
 * Sends the HTTP requests of this process through the proxy of the environment, which Node does not do by itself. Older
 * versions of Node, and WebSockets, connect directly.
 */
export const useProxy = async ({ env }: Host): Promise<void> => {
  if (isProxyInUse || PROXY_VARIABLES.every((name) => (env[name] ?? "") === "")) return
  const { default: http } = await import("node:http")
  const excluded = [env["no_proxy"] ?? env["NO_PROXY"] ?? "", ...LOOPBACK].filter((part) => part !== "")
  const { NO_PROXY: _replaced, ...others } = env
  try {
    http.setGlobalProxyFromEnv?.({ ...others, no_proxy: excluded.join(",") })
  } catch {
    // The value is not repeated: it may contain a password.
    throw new Failure({
      code: "CONFIGURATION",
      message: "HTTPS_PROXY or HTTP_PROXY is not a valid proxy URL, for example http://proxy.example:3128."
    })
  }
  isProxyInUse = true
}

/**
 * Returns the `fetch` of the client: with the proxy of the environment, a note if the server is slow, and failures in the words
 * of agentctl. An interruption ends it.
 */
export const fetchOf =
  ({ host, output }: Context, baseUrl: string): NonNullable<AgentOsOptions["fetch"]> =>
  async (url, init) => {
    const given = init.headers as Readonly<Record<string, string>>
    const start = host.now()
    const slow = setTimeout(() => output.note(`Waiting for ${baseUrl}…`), SLOW_MILLIS)
    try {
      await useProxy(host)
      const response = await fetch(url, {
        ...init,
        // An answer that is not from the API, as any other.
        redirect: "manual",
        signal: AbortSignal.any([host.signal, ...(init.signal ? [init.signal] : [])]),
        headers: { Accept: "", "User-Agent": `agentctl/${VERSION}`, ...given }
      })
      const { headers, status } = response
      const bytes = await readBody(response)
      return new Response(bytes.length === 0 ? null : bytes, { status, headers })
    } catch (error) {
      if (host.signal.aborted) throw error
      // The client repeats a request after any other error.
      if (error instanceof Failure)
        throw new AgentOsError({ code: "UNEXPECTED_ANSWER", message: error.message, cause: error })
      const message =
        init.signal?.aborted === true
          ? `${baseUrl} did not answer within ${Math.round((host.now() - start) / 1_000)} s.`
          : `Cannot reach ${baseUrl} (${obstacleOf(error, usesProxy(host, baseUrl))}).`
      throw new Failure({ code: "UNREACHABLE", message, retryable: true, next: ["agentctl config list"] })
    } finally {
      clearTimeout(slow)
    }
  }
