import type { IncomingMessage } from "node:http"
import { HttpRefusal, readBody } from "../../http/JsonServer.ts"
import { badParameter, TwilioError } from "./TwilioError.ts"

/** The fields of a form or a query, all of them known. */
export interface TwilioForm {
  readonly text: (name: string) => string | undefined
  readonly required: (name: string, absent: TwilioError) => string
  readonly all: (name: string) => ReadonlyArray<string>
  readonly url: (name: string, code: number) => string | undefined
  readonly method: (name: string) => "GET" | "POST" | undefined
  readonly whole: (name: string, minimum: number, maximum: number) => number | undefined
  readonly flag: (name: string) => boolean | undefined
  readonly has: (name: string) => boolean
}

/** A body in the only encoding in which Twilio takes parameters. */
export const readForm = async (request: IncomingMessage): Promise<URLSearchParams> => {
  const body = (await readBody(request)).toString()
  if (body === "") return new URLSearchParams()
  if (!/^application\/x-www-form-urlencoded\b/i.test(request.headers["content-type"] ?? "")) {
    throw new HttpRefusal(415, "a form expected, application/x-www-form-urlencoded")
  }
  return new URLSearchParams(body)
}

/** Everything by which a recording, or what belongs to one, is asked for. */
const recording = /^(?:Record|Recording\w*|Trim)$/

/**
 * Holds fields against the names that a request may carry. Twilio lets unknown ones pass; here they are refused, so
 * that a test sees a misspelt one, and so is every wish to record.
 */
export const checkForm = (
  params: URLSearchParams,
  names: ReadonlyArray<string>,
  lists: ReadonlyArray<string> = []
): TwilioForm => {
  const wishes = [...params.keys()].filter((name) => recording.test(name))
  if (wishes.length > 0) throw badParameter(`Sandbox: this carrier records no call: ${wishes.join(", ")}`)
  const unknown = [...params.keys()].filter((name) => !names.includes(name) && !lists.includes(name))
  if (unknown.length > 0) throw badParameter(`Sandbox: unknown parameter here: ${unknown.join(", ")}`)
  const repeated = names.filter((name) => params.getAll(name).length > 1)
  if (repeated.length > 0) throw badParameter(`Sandbox: parameter given more than once: ${repeated.join(", ")}`)

  const text = (name: string) => params.get(name) ?? undefined
  const oneOf = <Value extends string>(name: string, values: ReadonlyArray<Value>): Value | undefined => {
    const given = text(name)
    if (given === undefined) return undefined
    const found = values.find((value) => value === given)
    if (found === undefined) throw badParameter(`Parameter ${name} must be one of ${values.join(", ")}`)
    return found
  }
  return {
    text,
    required: (name, absent) => {
      const given = text(name)
      if (given === undefined || given === "") throw absent
      return given
    },
    all: (name) => params.getAll(name),
    url: (name, code) => {
      const given = text(name)
      if (given === undefined) return undefined
      if (given !== "" && !isWebUrl(given)) throw new TwilioError(400, code, `${name} is not a valid URL: ${given}`)
      return given
    },
    method: (name) => oneOf(name, ["GET", "POST"]),
    whole: (name, minimum, maximum) => {
      const given = text(name)
      if (given === undefined) return undefined
      const value = /^\d{1,9}$/.test(given) ? Number(given) : Number.NaN
      if (!(value >= minimum && value <= maximum)) {
        throw badParameter(`Parameter ${name} must be a whole number from ${minimum} to ${maximum}`)
      }
      return value
    },
    flag: (name) => {
      const given = oneOf(name, ["true", "false"])
      return given === undefined ? undefined : given === "true"
    },
    has: (name) => params.has(name)
  }
}

const isWebUrl = (text: string): boolean => {
  const url = URL.parse(text)
  return url !== null && /^https?:$/.test(url.protocol)
}
