import type { IncomingMessage } from "node:http"
import type { FaultPlan } from "../../shared/FaultPlan.ts"
import { HttpError, readBody } from "../../shared/JsonServer.ts"

/** An error of Twilio's API, with a code of https://www.twilio.com/docs/api/errors. */
export class TwilioError extends Error {
  readonly status: number
  readonly code: number

  constructor(status: number, code: number, message: string) {
    super(message)
    this.status = status
    this.code = code
  }

  get body() {
    return {
      code: this.code,
      message: this.message,
      more_info: `https://www.twilio.com/docs/errors/${this.code}`,
      status: this.status
    }
  }
}

export const notFound = (path: string): TwilioError =>
  new TwilioError(404, 20404, `The requested resource ${path} was not found`)

export const methodNotAllowed = (method: string): TwilioError =>
  new TwilioError(405, 20004, `Method ${method} is not allowed here`)

export const unauthenticated = (): TwilioError => new TwilioError(401, 20003, "Authenticate")

/** An invalid or unknown parameter. The message starts with `Sandbox:` if Twilio would accept it. */
export const badParameter = (message: string): TwilioError => new TwilioError(400, 20001, message)

/** An authenticated request to Twilio's API. */
export interface TwilioRequest {
  readonly method: string
  /** Without the query. */
  readonly path: string
  readonly query: URLSearchParams
  /** The fields of the body; empty without a body. */
  readonly form: URLSearchParams
}

export interface TwilioResponse {
  readonly status: number
  readonly body?: unknown
  /** A fault can withhold the response from the client. */
  readonly delivery: "answer" | "drop" | "hang"
}

export const respond = (status: number, body?: unknown): TwilioResponse => ({ status, body, delivery: "answer" })

/** Reads a body in the only encoding that Twilio accepts. */
export const readForm = async (request: IncomingMessage): Promise<URLSearchParams> => {
  const body = (await readBody(request)).toString()
  if (body === "") return new URLSearchParams()
  if (!/^application\/x-www-form-urlencoded\b/i.test(request.headers["content-type"] ?? "")) {
    throw new HttpError(415, "Content-Type must be application/x-www-form-urlencoded")
  }
  return new URLSearchParams(body)
}

/** The parameters that request a recording. */
const recording = /^(?:Record|Recording\w*|Trim)$/

/** The validated fields of a form or query. */
export type TwilioForm = ReturnType<typeof checkForm>

/**
 * Validates the names of fields. Twilio ignores unknown names. The sandbox rejects them, so that tests find misspelled
 * parameters, and rejects all recording parameters.
 */
export const checkForm = (params: URLSearchParams, names: ReadonlyArray<string>, lists: ReadonlyArray<string> = []) => {
  const recordings = [...params.keys()].filter((name) => recording.test(name))
  if (recordings.length > 0) throw badParameter(`Sandbox: recording is not supported: ${recordings.join(", ")}`)
  const unknown = [...params.keys()].filter((name) => !names.includes(name) && !lists.includes(name))
  if (unknown.length > 0) throw badParameter(`Sandbox: unknown parameter: ${unknown.join(", ")}`)
  const repeated = names.filter((name) => params.getAll(name).length > 1)
  if (repeated.length > 0) throw badParameter(`Sandbox: repeated parameter: ${repeated.join(", ")}`)

  const text = (name: string) => params.get(name) ?? undefined
  const oneOf = <Value extends string>(name: string, values: ReadonlyArray<Value>): Value | undefined => {
    const value = text(name)
    if (value === undefined) return undefined
    const match = values.find((allowed) => allowed === value)
    if (match === undefined) throw badParameter(`Parameter ${name} must be one of ${values.join(", ")}`)
    return match
  }
  return {
    text,
    required: (name: string, missing: TwilioError): string => {
      const value = text(name)
      if (value === undefined || value === "") throw missing
      return value
    },
    all: (name: string) => params.getAll(name),
    url: (name: string, code: number): string | undefined => {
      const value = text(name)
      if (value === undefined) return undefined
      if (value !== "" && !isWebUrl(value)) throw new TwilioError(400, code, `${name} is not a valid URL: ${value}`)
      return value
    },
    method: (name: string) => oneOf(name, ["GET", "POST"]),
    integer: (name: string, minimum: number, maximum: number): number | undefined => {
      const value = text(name)
      if (value === undefined) return undefined
      const number = /^\d{1,9}$/.test(value) ? Number(value) : Number.NaN
      if (!(number >= minimum && number <= maximum)) {
        throw badParameter(`Parameter ${name} must be an integer from ${minimum} to ${maximum}`)
      }
      return number
    },
    flag: (name: string): boolean | undefined => {
      const value = oneOf(name, ["true", "false"])
      return value === undefined ? undefined : value === "true"
    },
    has: (name: string) => params.has(name)
  }
}

const isWebUrl = (text: string): boolean => {
  const url = URL.parse(text)
  return url !== null && /^https?:$/.test(url.protocol)
}

/** The operations that faults apply to. `update` is of calls and of numbers. */
export const faultOperations = ["search", "buy", "release", "call", "update"] as const
export type FaultOperation = (typeof faultOperations)[number]

/**
 * Runs an operation, or fails as the oldest matching fault says. `subjects` are compared with a fault's `only`.
 * `rejection` is the error of the mode `reject`.
 */
export const withFaults =
  (faults: FaultPlan<FaultOperation>) =>
  async (
    operation: FaultOperation,
    subjects: ReadonlyArray<string>,
    rejection: TwilioError,
    run: () => Promise<TwilioResponse>
  ): Promise<TwilioResponse> => {
    const fault = faults.take(operation, subjects)
    if (fault === "before") throw new TwilioError(500, 20500, "Sandbox fault: the operation had no effect")
    if (fault === "reject") throw rejection
    const response = await run()
    if (fault === "after") return { ...response, delivery: "drop" }
    return fault === "hang" ? { ...response, delivery: "hang" } : response
  }

export type RunWithFaults = ReturnType<typeof withFaults>
