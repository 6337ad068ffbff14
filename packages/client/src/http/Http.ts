import { AgentOsError, messageOf } from "../AgentOsError.ts"
import { parseJson } from "../Encoding.ts"
import type { Settings } from "../Options.ts"
import type { Answer } from "./Answer.ts"

const TIMEOUT_MILLIS = 30_000
/** A larger body has more time, so that attachments can be sent over a slow line. */
const SENT_BYTES_PER_MILLI = 50
/** An attachment needs longer on a slow line. */
const DOWNLOAD_TIMEOUT_MILLIS = 600_000
const ANSWER_BYTES_MAX = 64 * 1_024 * 1_024

export interface Request {
  readonly method: string
  /** With the query. */
  readonly path: string
  /** Sent exactly as given. */
  readonly body?: string
  readonly token?: string | undefined
  readonly headers?: Readonly<Record<string, string>>
  readonly isDownload?: boolean
}

/** Sends requests to one server. */
export class Http {
  readonly #settings: Settings

  constructor(settings: Settings) {
    this.#settings = settings
  }

  /** Sends a request once. Throws UNREACHABLE without an answer, and the signal's reason if it is aborted. */
  async send(request: Request, signal?: AbortSignal): Promise<Answer> {
    const { body, headers, isDownload, method, path, token } = request
    const { baseUrl, fetch } = this.#settings
    const millis =
      isDownload === true ? DOWNLOAD_TIMEOUT_MILLIS : TIMEOUT_MILLIS + (body?.length ?? 0) / SENT_BYTES_PER_MILLI
    const timeout = AbortSignal.timeout(Math.ceil(millis))
    try {
      const response = await fetch(`${baseUrl}${path}`, {
        method,
        // A redirect could send the token to another server. Workers of Cloudflare do not support "error".
        redirect: "manual",
        signal: signal === undefined ? timeout : AbortSignal.any([signal, timeout]),
        headers: {
          Accept: isDownload === true ? "*/*" : "application/json",
          ...(body === undefined ? {} : { "Content-Type": "application/json" }),
          ...(token === undefined ? {} : { Authorization: `Bearer ${token}` }),
          ...headers
        },
        ...(body === undefined ? {} : { body })
      })
      if (isRedirect(response)) {
        await response.body?.cancel()
        throw redirected(baseUrl, response)
      }
      const bytes = await readBytes(response)
      const isJson = response.headers.get("content-type")?.includes("json") ?? false
      return {
        status: response.status,
        headers: response.headers,
        bytes,
        json: isJson ? parseJson(new TextDecoder().decode(bytes)) : undefined
      }
    } catch (error) {
      if (error instanceof AgentOsError) throw error
      signal?.throwIfAborted()
      const why = timeout.aborted ? `no answer within ${Math.round(millis / 1_000)} s` : reasonOf(error)
      throw new AgentOsError({
        code: "UNREACHABLE",
        message: `Cannot reach ${baseUrl}: ${why}.`,
        isRetryable: true,
        cause: error
      })
    }
  }
}

/** Browsers hide the answer, and show only that it is a redirect. */
const isRedirect = ({ redirected, status, type }: Response): boolean =>
  redirected || type === "opaqueredirect" || (status >= 300 && status < 400)

const redirected = (baseUrl: string, { headers, status }: Response): AgentOsError => {
  const location = headers.get("location")
  return new AgentOsError({
    code: "UNEXPECTED_ANSWER",
    message: `${baseUrl} redirects${location === null ? "" : ` to ${location}`}. Redirects are not followed, because they could send the access token to another server. Connect to the base URL that answers itself.`,
    status: status === 0 ? null : status
  })
}

const readBytes = async (response: Response): Promise<Uint8Array> => {
  const reader = response.body?.getReader()
  const chunks: Array<Uint8Array> = []
  let length = 0
  for (let chunk = await reader?.read(); chunk?.value !== undefined; chunk = await reader?.read()) {
    length += chunk.value.length
    if (length > ANSWER_BYTES_MAX) {
      await reader?.cancel()
      throw new AgentOsError({ code: "UNEXPECTED_ANSWER", message: "The answer is larger than 64 MiB." })
    }
    chunks.push(chunk.value)
  }
  const bytes = new Uint8Array(length)
  let offset = 0
  for (const chunk of chunks) {
    bytes.set(chunk, offset)
    offset += chunk.length
  }
  return bytes
}

/** Returns the reason of a failed fetch, which Node hides in the cause. */
const reasonOf = (error: unknown): string => {
  const cause = error instanceof Error ? error.cause : undefined
  return messageOf(cause instanceof Error ? cause : error)
}
