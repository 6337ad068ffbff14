import type { ProviderError } from "@agentos/core"
import { Effect, Option, Redacted, Schema } from "effect"
import { codeOf, failure, reasonOf, wasUnsent } from "./TwilioFailure.ts"

/** The account, its URL and the time limit of a request. */
export interface TwilioAccount {
  readonly accountSid: string
  readonly authToken: Redacted.Redacted
  /** Without a trailing slash. */
  readonly apiUrl: string
  readonly timeoutMillis: number
}

/** Fields of a form or a query; a list repeats the field for each value. */
export type Fields = Readonly<Record<string, string | ReadonlyArray<string>>>

/** A request to Twilio's REST API. */
export interface TwilioCall {
  /** The action in error messages: `buy a number`. */
  readonly name: string
  readonly method: "GET" | "POST" | "DELETE"
  /** The path below the account: `Calls.json`, or `.json` for the account itself. */
  readonly path: string
  /** The query of a GET, or the form of a POST. */
  readonly fields?: Fields
}

/** A response with any status, its body read completely. */
export interface TwilioAnswer {
  readonly status: number
  readonly body: string
  /** Twilio's error code. */
  readonly code: number | undefined
}

/** Size limit of a response. A page of a hundred numbers has about 200 KB. */
const ANSWER_BYTES_MAX = 1_024 * 1_024
/** Delay before a read is retried. */
const RETRY_DELAY_MILLIS = 200

const API_VERSION = "2010-04-01"

export const isSuccess = ({ status }: TwilioAnswer): boolean => status >= 200 && status < 300

const encode = (fields: Fields): URLSearchParams => {
  const params = new URLSearchParams()
  for (const [name, value] of Object.entries(fields)) {
    for (const one of typeof value === "string" ? [value] : value) params.append(name, one)
  }
  return params
}

/**
 * Sends a request and reads the whole response. A change is sent once, and fails with `Unknown` if it was sent
 * but not answered; a read is retried once. Redirects are rejected: following one would show the account's
 * token to another server.
 */
export const exchange = (account: TwilioAccount, call: TwilioCall): Effect.Effect<TwilioAnswer, ProviderError> => {
  const isChange = call.method !== "GET"
  const doubt = isChange ? "Unknown" : "Temporary"
  const sent = Effect.tryPromise({
    try: (signal) => send(account, call, signal),
    catch: (cause) => failure(wasUnsent(cause) ? "Temporary" : doubt, `could not be reached to ${call.name}`, cause)
  }).pipe(
    Effect.timeoutOrElse({
      duration: account.timeoutMillis,
      orElse: () =>
        Effect.fail(failure(doubt, `did not answer the request to ${call.name} within ${account.timeoutMillis} ms`))
    })
  )
  return isChange
    ? sent
    : sent.pipe(
        Effect.filterOrFail(
          ({ status }) => status < 500,
          (answer) => refusal(call, answer)
        ),
        Effect.catch(() => Effect.andThen(Effect.sleep(RETRY_DELAY_MILLIS), sent))
      )
}

/** Makes the error for a response without success. */
export const refusal = ({ method, name }: TwilioCall, { code, status }: TwilioAnswer): ProviderError =>
  failure(
    reasonOf(method !== "GET", status, code),
    `answered the request to ${name} with status ${status}${code === undefined ? "" : ` and code ${code}`}`
  )

/** Sends a request that must succeed with a body of this shape. */
export const ask = <Body>(
  account: TwilioAccount,
  call: TwilioCall,
  schema: Schema.Codec<Body, string>
): Effect.Effect<Body, ProviderError> => {
  const decode = Schema.decodeUnknownOption(schema)
  return Effect.flatMap(exchange(account, call), (answer) => readBody(call, answer, decode))
}

/** Decodes the body of a response that must be a success. */
export const readBody = <Body>(
  call: TwilioCall,
  answer: TwilioAnswer,
  decode: (body: string) => Option.Option<Body>
): Effect.Effect<Body, ProviderError> => {
  if (!isSuccess(answer)) return Effect.fail(refusal(call, answer))
  return Option.match(decode(answer.body), {
    onNone: () =>
      Effect.fail(
        failure(
          call.method === "GET" ? "Temporary" : "Unknown",
          `sent a response to the request to ${call.name} that could not be decoded`
        )
      ),
    onSome: Effect.succeed
  })
}

const send = async (account: TwilioAccount, call: TwilioCall, signal: AbortSignal): Promise<TwilioAnswer> => {
  const { accountSid, apiUrl, authToken } = account
  const fields = encode(call.fields ?? {})
  const query = call.method === "GET" && fields.size > 0 ? `?${fields.toString()}` : ""
  const credentials = Buffer.from(`${accountSid}:${Redacted.value(authToken)}`).toString("base64")
  const path = `${accountSid}${call.path.startsWith(".") ? "" : "/"}${call.path}`
  const response = await fetch(`${apiUrl}/${API_VERSION}/Accounts/${path}${query}`, {
    method: call.method,
    headers: { accept: "application/json", authorization: `Basic ${credentials}` },
    // A form; fetch sets its content type.
    body: call.method === "POST" ? fields : null,
    redirect: "error",
    signal
  })
  const body = await readText(response)
  return { status: response.status, body, code: response.ok ? undefined : codeOf(body) }
}

const readText = async (response: Response): Promise<string> => {
  const decoder = new TextDecoder()
  let text = ""
  let length = 0
  for await (const chunk of response.body ?? []) {
    length += chunk.byteLength
    if (length > ANSWER_BYTES_MAX) throw new Error(`an answer of more than ${ANSWER_BYTES_MAX} bytes`)
    text += decoder.decode(chunk, { stream: true })
  }
  return text + decoder.decode()
}
