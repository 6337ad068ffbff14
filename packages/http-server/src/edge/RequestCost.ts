import type { ErrorCode } from "@agentos/core"
import type { HttpServerRequest } from "effect/http"

/** What a request takes from its limits. */
const REQUEST_COST = 1
/** The same of one that presents a payment, which is looked up, verified on the chain and settled. */
const PAYMENT_COST = 4

/** What a token that is not valid takes besides, in a request or over a socket. */
export const REFUSED_TOKEN_COST = 9
/** What an unknown path or id takes besides. */
const GUESS_COST = 4
/** What a request takes besides when it ends like this: what guesses tokens, ids or paths does so. */
const FAILURE_COST: Partial<Record<ErrorCode, number>> = {
  AUTH_REQUIRED: REFUSED_TOKEN_COST,
  INVALID_TOKEN: REFUSED_TOKEN_COST,
  RESOURCE_NOT_OWNED: GUESS_COST,
  RESOURCE_NOT_FOUND: GUESS_COST,
  METHOD_NOT_ALLOWED: GUESS_COST
}
/** The same of a payment that does not hold: the chain was read in vain. */
const REFUSED_PAYMENT_COST = 6

/** Whether a request carries a payment. */
export const presentsPayment = ({ headers }: HttpServerRequest.HttpServerRequest): boolean =>
  Boolean(headers["payment-signature"])

/** What a request takes from the limits of its address and of its tenant before it is worked on. */
export const requestCost = (request: HttpServerRequest.HttpServerRequest): number =>
  presentsPayment(request) ? PAYMENT_COST : REQUEST_COST

/** What it takes from the limit of its address besides, given the error that it ended with. */
export const failureCost = (request: HttpServerRequest.HttpServerRequest, code: ErrorCode | undefined): number => {
  if (code === undefined) return 0
  if (code === "PAYMENT_REQUIRED") return presentsPayment(request) ? REFUSED_PAYMENT_COST : 0
  return FAILURE_COST[code] ?? 0
}

/** The costs as clients are told them. */
export const COST_ROWS: ReadonlyArray<readonly [request: string, cost: number]> = [
  ["is none of the following", REQUEST_COST],
  ["presents a payment", PAYMENT_COST],
  ["presents a payment that is refused (402)", PAYMENT_COST + REFUSED_PAYMENT_COST],
  ["presents a token that is not valid (401)", REQUEST_COST + REFUSED_TOKEN_COST],
  ["names an unknown path or id, or another tenant's (403, 404, 405)", REQUEST_COST + GUESS_COST]
]
