import type { IncomingMessage } from "node:http"
import { HttpRefusal, type Outcome } from "../http/JsonServer.ts"
import type { CallApi } from "./CallApi.ts"
import { fieldsOf, type Journal } from "./Journal.ts"
import type { NumberApi } from "./NumberApi.ts"
import { badParameter, notFound, TwilioError, unauthenticated } from "./twilio/TwilioError.ts"
import { readForm } from "./twilio/TwilioForm.ts"
import { accountPath } from "./twilio/TwilioResource.ts"
import type { TwilioAnswer, TwilioRequest } from "./TwilioRequest.ts"

export interface TwilioApiOptions {
  readonly accountSid: string
  readonly authToken: string
  readonly journal: Journal
  readonly numbers: NumberApi
  readonly calls: CallApi
}

/** The paths that are Twilio's. */
export const isTwilioPath = (path: string): boolean => path.startsWith("/2010-04-01/")

/**
 * Answers requests of Twilio's interface of 2010-04-01, as far as a telephone needs it, for one account. Refusals have
 * Twilio's shape. Each request is in the journal, those without the right credentials too.
 */
export const makeTwilioApi = (options: TwilioApiOptions) => {
  const { accountSid, authToken, journal } = options
  const credentials = `Basic ${Buffer.from(`${accountSid}:${authToken}`).toString("base64")}`
  const dispatch = dispatcher(options)

  return async (request: IncomingMessage, url: URL): Promise<Outcome> => {
    const method = request.method ?? "GET"
    const logged = journal.request({ method, path: url.pathname, query: fieldsOf(url.searchParams) })
    const act = async (): Promise<TwilioAnswer> => {
      if (request.headers.authorization !== credentials) throw unauthenticated()
      const form = await readForm(request)
      logged.form(fieldsOf(form))
      if (method === "POST" && url.search !== "")
        throw badParameter("Sandbox: a POST carries its parameters in the body")
      return dispatch({ method, path: url.pathname, query: url.searchParams, form })
    }
    const answer = await act().catch(refusalOf)
    logged.answered(answer.status, answer.delivery === "answer")
    if (answer.delivery !== "answer") return answer.delivery
    const challenge = answer.status === 401 ? { headers: { "WWW-Authenticate": 'Basic realm="Twilio API"' } } : {}
    return { status: answer.status, body: answer.body, ...challenge }
  }
}

const refusalOf = (error: unknown): TwilioAnswer => {
  const refusal = error instanceof HttpRefusal ? new TwilioError(error.status, 20_001, error.message) : error
  if (refusal instanceof TwilioError) return { status: refusal.status, body: refusal.body, delivery: "answer" }
  console.error(error)
  const defect = new TwilioError(500, 20_500, "Internal server error")
  return { status: 500, body: defect.body, delivery: "answer" }
}

const dispatcher = ({ accountSid, calls, numbers }: TwilioApiOptions) => {
  const account = `${accountPath(accountSid)}/`
  return async (request: TwilioRequest): Promise<TwilioAnswer> => {
    const { path } = request
    if (!path.startsWith(account)) throw notFound(path)
    const rest = path.slice(account.length)
    const [, country] = /^AvailablePhoneNumbers\/([A-Z]{2})\/Local\.json$/.exec(rest) ?? []
    if (country !== undefined) return numbers.search(request, country)
    if (rest === "IncomingPhoneNumbers.json") return numbers.owned(request)
    if (rest === "Calls.json") return calls.calls(request)
    const [, kind, sid = ""] = /^(IncomingPhoneNumbers|Calls)\/((?:PN|CA)[\da-f]{32})\.json$/.exec(rest) ?? []
    if (kind === "IncomingPhoneNumbers") return numbers.one(request, sid)
    if (kind === "Calls") return calls.one(request, sid)
    if (/Recordings/.test(rest)) throw badParameter("Sandbox: this carrier records no call")
    throw notFound(path)
  }
}
