import { type Operation, toWireError } from "@agentos/api"
import { type Capabilities, PaymentRequired } from "@agentos/core"
import { HttpServerResponse } from "effect/http"
import type { RequestFacts } from "../edge/Route.ts"

/** Parts of the envelope that differ between two requests, in their order. */
const REQUEST_ID = "{requestId}"
const PATH = "{path}"

const prepare = ({ entry }: Operation, capabilities: Capabilities) => {
  const required = new PaymentRequired({ challenge: "", reason: null })
  const { body, status } = toWireError(required, {
    requestId: REQUEST_ID,
    method: entry.method,
    path: PATH,
    entry,
    capabilities,
    paymentState: "none"
  })
  const [beforeId = "", afterId = ""] = JSON.stringify(body).split(REQUEST_ID)
  const [beforePath = "", end = ""] = afterId.split(JSON.stringify(PATH))
  return { status, start: beforeId, middle: beforePath, end }
}

/**
 * Returns the function that answers a request without payment with its challenge, the value of PAYMENT-REQUIRED. The
 * response is that of `PaymentRequired`, with an envelope that is prepared on the first request.
 */
export const challengeResponse = (operation: Operation, capabilities: Capabilities) => {
  let prepared: ReturnType<typeof prepare> | undefined
  return (record: RequestFacts, path: string, challenge: string): HttpServerResponse.HttpServerResponse => {
    const { end, middle, start, status } = (prepared ??= prepare(operation, capabilities))
    record.code = "PAYMENT_REQUIRED"
    return HttpServerResponse.text(start + record.requestId + middle + JSON.stringify(path) + end, {
      status,
      contentType: "application/json",
      headers: { "payment-required": challenge }
    })
  }
}
