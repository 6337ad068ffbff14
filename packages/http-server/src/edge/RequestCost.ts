import type { ErrorCode } from "@agentos/core"
import type { HttpServerRequest } from "effect/http"

const REQUEST_COST = 1
/** Cost of a request with a payment, which is looked up, verified on the chain and settled. */
const PAYMENT_COST = 4
/** Cost of a request that signs in: recovering the signer takes about as long as ten requests. */
const SIGN_IN_COST = 4

/** Additional cost of setting an event webhook: its host is resolved, and an event is posted to it at once. */
export const WEBHOOK_SET_COST = 9

/** Reading a body takes about 4 ms for each of these, so 20 such requests would take most of a second. */
const MIB = 1024 * 1024
/** Greater than any body. A longer one is refused from its headers. */
const BODY_COST_MAX = 32

/** Additional cost of a token that is not valid, in a request or over a socket. */
export const REFUSED_TOKEN_COST = 9
/** Additional cost of an unknown path or id. */
const GUESS_COST = 4
/** Additional cost of a request that fails with one of these codes, which show guessing of tokens, ids or paths. */
const FAILURE_COST: Partial<Record<ErrorCode, number>> = {
  AUTH_REQUIRED: REFUSED_TOKEN_COST,
  INVALID_TOKEN: REFUSED_TOKEN_COST,
  RESOURCE_NOT_OWNED: GUESS_COST,
  RESOURCE_NOT_FOUND: GUESS_COST,
  METHOD_NOT_ALLOWED: GUESS_COST
}
/** Additional cost of a payment that is not valid, because reading the chain was wasted. */
const REFUSED_PAYMENT_COST = 6
/** Additional cost of a payment's status for which the blocks of the chain were searched: up to 150 reads. */
export const CHAIN_SEARCH_COST = 36

/** Additional cost of reading the balance of a wallet, for each network. */
export const FUNDS_READ_COST = 2

export const presentsPayment = ({ headers }: HttpServerRequest.HttpServerRequest): boolean =>
  Boolean(headers["payment-signature"])

/** Returns the cost that a request takes from the limits of its address and its tenant before it is processed. */
export const requestCost = (request: HttpServerRequest.HttpServerRequest): number =>
  bodyCost(request) +
  (presentsPayment(request)
    ? PAYMENT_COST
    : request.headers["sign-in-with-x"] === undefined
      ? REQUEST_COST
      : SIGN_IN_COST)

/** One for each complete MiB that the headers declare. */
const bodyCost = ({ headers }: HttpServerRequest.HttpServerRequest): number => {
  const length = headers["content-length"]
  return length === undefined ? 0 : Math.min(BODY_COST_MAX, Math.floor(Number(length) / MIB) || 0)
}

/** Returns the additional cost for the limit of the address, by the error with which the request failed. */
export const failureCost = (request: HttpServerRequest.HttpServerRequest, code: ErrorCode | undefined): number => {
  if (code === undefined) return 0
  if (code === "PAYMENT_REQUIRED") return presentsPayment(request) ? REFUSED_PAYMENT_COST : 0
  return FAILURE_COST[code] ?? 0
}

/** The costs as the guide shows them to clients. */
export const COST_ROWS: ReadonlyArray<readonly [request: string, cost: number]> = [
  ["matches none of the rows below", REQUEST_COST],
  ["has a body: for each complete MiB, in addition", 1],
  ["presents a payment", PAYMENT_COST],
  ["presents a payment that is refused (402)", PAYMENT_COST + REFUSED_PAYMENT_COST],
  ["reads the status of a used payment that no operation holds", PAYMENT_COST + CHAIN_SEARCH_COST],
  ["reads the balances of a wallet: for each network, in addition", FUNDS_READ_COST],
  ["signs in with SIGN-IN-WITH-X", SIGN_IN_COST],
  ["sets an event webhook", REQUEST_COST + WEBHOOK_SET_COST],
  ["signs in with a message that is not valid (401)", SIGN_IN_COST + REFUSED_TOKEN_COST],
  ["presents a token that is not valid (401)", REQUEST_COST + REFUSED_TOKEN_COST],
  ["names an unknown path or id, or another tenant's (403, 404, 405)", REQUEST_COST + GUESS_COST]
]
