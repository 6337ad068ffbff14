import type { IncomingMessage } from "node:http"
import { HttpError, type HttpResult } from "../../shared/JsonServer.ts"
import { fieldsOf, type RequestLog } from "../RequestLog.ts"
import type { CallApi } from "./CallApi.ts"
import type { NumberApi } from "./NumberApi.ts"
import {
  badParameter,
  notFound,
  readForm,
  respond,
  TwilioError,
  type TwilioRequest,
  type TwilioResponse,
  unauthenticated
} from "./TwilioRequest.ts"
import { accountPath, toAccount } from "./TwilioResource.ts"

export interface TwilioApiOptions {
  readonly accountSid: string
  readonly authToken: string
  readonly requestLog: RequestLog
  readonly numbers: NumberApi
  readonly calls: CallApi
}

export const isTwilioPath = (path: string): boolean => path.startsWith("/2010-04-01/")

/**
 * Handles requests to the phone part of Twilio's API of 2010-04-01 for one account. Errors have Twilio's shape. The
 * log contains each request, also those without valid credentials.
 */
export const makeTwilioApi = (options: TwilioApiOptions) => {
  const { accountSid, authToken, requestLog } = options
  const credentials = `Basic ${Buffer.from(`${accountSid}:${authToken}`).toString("base64")}`

  return async (request: IncomingMessage, url: URL): Promise<HttpResult> => {
    const method = request.method ?? "GET"
    const entry = requestLog.request({ method, path: url.pathname, query: fieldsOf(url.searchParams) })
    const handle = async (): Promise<TwilioResponse> => {
      if (request.headers.authorization !== credentials) throw unauthenticated()
      const form = await readForm(request)
      entry.form(fieldsOf(form))
      if (method === "POST" && url.search !== "")
        throw badParameter("Sandbox: the parameters of a POST must be in the body")
      return dispatch(options, { method, path: url.pathname, query: url.searchParams, form })
    }
    const response = await handle().catch(toErrorResponse)
    entry.answered(response.status, response.delivery === "answer")
    if (response.delivery !== "answer") return response.delivery
    const challenge = response.status === 401 ? { headers: { "WWW-Authenticate": 'Basic realm="Twilio API"' } } : {}
    return { status: response.status, body: response.body, ...challenge }
  }
}

const toErrorResponse = (error: unknown): TwilioResponse => {
  const twilioError = error instanceof HttpError ? new TwilioError(error.status, 20_001, error.message) : error
  if (twilioError instanceof TwilioError) return respond(twilioError.status, twilioError.body)
  console.error(error)
  return respond(500, new TwilioError(500, 20_500, "Internal server error").body)
}

const dispatch = async (options: TwilioApiOptions, request: TwilioRequest): Promise<TwilioResponse> => {
  const { accountSid, calls, numbers } = options
  const { path } = request
  if (path === `${accountPath(accountSid)}.json` && request.method === "GET") return respond(200, toAccount(accountSid))
  const account = `${accountPath(accountSid)}/`
  if (!path.startsWith(account)) throw notFound(path)
  const resource = path.slice(account.length)
  const [, country] = /^AvailablePhoneNumbers\/([A-Z]{2})\/Local\.json$/.exec(resource) ?? []
  if (country !== undefined) return numbers.search(request, country)
  if (resource === "IncomingPhoneNumbers.json") return numbers.list(request)
  if (resource === "Calls.json") return calls.list(request)
  const [, kind, sid = ""] = /^(IncomingPhoneNumbers|Calls)\/((?:PN|CA)[\da-f]{32})\.json$/.exec(resource) ?? []
  if (kind === "IncomingPhoneNumbers") return numbers.instance(request, sid)
  if (kind === "Calls") return calls.instance(request, sid)
  if (/Recordings/.test(resource)) throw badParameter("Sandbox: recording is not supported")
  throw notFound(path)
}
