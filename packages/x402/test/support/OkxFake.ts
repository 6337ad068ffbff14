import { createHmac } from "node:crypto"
import type { ServerResponse } from "node:http"
import { Redacted } from "effect"
import type { OkxFacilitatorConfig } from "../../src/facilitator/Facilitator.ts"
import { sendJson, type Respond, type SeenRequest } from "./HttpFake.ts"

/** The credentials that the fake accepts. */
export const credentials = { apiKey: "key-37c541a1", secretKey: "hush-0ad9", passphrase: "open sesame" }

export const config = (url: string, other: Partial<OkxFacilitatorConfig> = {}): OkxFacilitatorConfig => ({
  kind: "okx",
  url,
  apiKey: Redacted.make(credentials.apiKey),
  secretKey: Redacted.make(credentials.secretKey),
  passphrase: Redacted.make(credentials.passphrase),
  verifyTimeoutMillis: 2_000,
  settleTimeoutMillis: 5_000,
  ...other
})

/** The fake's answer to a correctly signed request: the data of its envelope, or a response of its own. */
export type Answer = object | null | ((response: ServerResponse) => void)
export interface Answers {
  readonly supported?: Answer
  readonly verify?: Answer
  readonly settle?: Answer
  /** Statuses of a settlement, one per request, the last one repeated. */
  readonly status?: ReadonlyArray<Answer>
}

const PREFIX = "/api/v6/pay/x402"
/** Allowed difference between a request's time and the fake's own. */
const TOLERANCE_MILLIS = 30_000

/**
 * OKX's facilitator according to its documentation: a request must name a known key and passphrase, and sign
 * the time, the method, the path with its query, and the body. The fake computes the signature with its own
 * code.
 */
export const okx = (answers: Answers): Respond => {
  let statuses = 0
  return (request, response) => {
    const refusal = refusalOf(request)
    if (refusal !== undefined) return sendJson(response, { code: refusal[0], msg: refusal[1], data: null }, 401)
    const [path] = request.path.split("?")
    const say = (answer: Answer | undefined) => {
      if (typeof answer === "function") return answer(response)
      if (answer === undefined) return sendJson(response, { code: "50404", msg: "URL not found", data: null }, 404)
      sendJson(response, { code: "0", msg: "success", data: answer })
    }
    if (request.method === "GET" && path === `${PREFIX}/supported`) return say(answers.supported)
    if (request.method === "POST" && path === `${PREFIX}/verify`) return say(answers.verify)
    if (request.method === "POST" && path === `${PREFIX}/settle`) return say(answers.settle)
    if (request.method === "GET" && path === `${PREFIX}/settle/status`) {
      return say(answers.status?.[Math.min(statuses++, answers.status.length - 1)])
    }
    say(undefined)
  }
}

const refusalOf = ({ body, headers, method, path }: SeenRequest): readonly [string, string] | undefined => {
  const timestamp = String(headers["ok-access-timestamp"])
  const expected = createHmac("sha256", credentials.secretKey)
  for (const part of [timestamp, method, path, body]) expected.update(part, "utf8")
  if (headers["ok-access-key"] !== credentials.apiKey) return ["50111", "Invalid OK-ACCESS-KEY"]
  if (headers["ok-access-passphrase"] !== credentials.passphrase) return ["50105", "OK-ACCESS-PASSPHRASE is incorrect"]
  const isIso = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/.test(timestamp)
  if (!isIso || Math.abs(Date.parse(timestamp) - Date.now()) > TOLERANCE_MILLIS) {
    return ["50112", "Invalid OK-ACCESS-TIMESTAMP"]
  }
  return headers["ok-access-sign"] === expected.digest("base64") ? undefined : ["50113", "Invalid signature"]
}
