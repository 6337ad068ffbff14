import { createHmac } from "node:crypto"
import { type ProviderError, type SettleAnswer, Timestamp } from "@agentos/core"
import { Effect, Option, Redacted, Schedule, Schema } from "effect"
import type { Facilitator, OkxFacilitatorConfig } from "./Facilitator.ts"
import * as FacilitatorAnswer from "./FacilitatorAnswer.ts"
import { type HttpAnswer, isSuccess } from "../HttpExchange.ts"
import { bodyOf, exchange, facilitatorError, reasonOf } from "./FacilitatorExchange.ts"

/** Base URL of OKX's facilitator (Onchain OS, "HTTP API - One-time Payment"). */
export const OKX_URL = "https://web3.okx.com"
const PREFIX = "/api/v6/pay/x402"

const DEFAULT_QUESTION_TIMEOUT_MILLIS = 10_000
/** OKX itself waits for the chain before it answers. */
const DEFAULT_SETTLE_TIMEOUT_MILLIS = 30_000
/** Interval between requests for the status of a settlement that is not yet final. */
const STATUS_INTERVAL = "1 second"

/**
 * The envelope of every response. Its code is documented as text, but some of OKX's own clients treat it as a
 * number.
 */
const Envelope = Schema.fromJsonString(
  Schema.Struct({
    code: Schema.Union([Schema.String, Schema.Finite]),
    data: Schema.optionalKey(Schema.Unknown)
  })
)
const decodeEnvelope = Schema.decodeUnknownOption(Envelope)
const decodeSupported = Schema.decodeUnknownOption(FacilitatorAnswer.Supported)
const decodeSettlement = Schema.decodeUnknownOption(
  Schema.Struct({ ...FacilitatorAnswer.Settlement.fields, status: FacilitatorAnswer.optionalText })
)

/** Codes that the operator must fix: a wrong key, secret, passphrase, clock, region or address. */
const OPERATORS: ReadonlySet<string> = new Set(
  "50103 50104 50105 50106 50107 50111 50112 50113 50114 50125 50404".split(" ")
)
/** Codes about the request: a missing or wrong parameter. */
const REQUESTS: ReadonlySet<string> = new Set(["30001", "50014", "50036", "51000"])

/**
 * OKX's own reasons that report a fault in the payment, found before anything was submitted ("Payment Error
 * Handling"). Reasons that a submitted or settled payment can cause are not listed: `nonce_used`,
 * `onchain_error`, "payment processing".
 */
const OKX_REFUSALS: ReadonlySet<string> = new Set([
  "expired",
  "insufficient_balance",
  "invalid_signature",
  "not_yet_valid",
  "param_mismatch",
  "payer_blocked",
  "risk_address",
  "unsupported_chain"
])

/**
 * Makes a client of OKX's facilitator. It differs from the standard interface in three ways: every request is
 * signed, every response is wrapped in an envelope `{code, msg, data}`, and a settlement has a `status`, of
 * which only `success` means success. Any answer except a plain success or a documented refusal is `Unknown`.
 *
 * Sources: "HTTP API - One-time Payment" (https://web3.okx.com/onchainos/dev-docs/payments/api-http-onetime),
 * "Query Settlement Status" (…/payments/api-query-settlement-status), "Payment Error Handling"
 * (https://web3.okx.com/onchainos/dev-docs/market/payment-error-handling), and OKX's own clients
 * (https://github.com/okx/payments, go/x402/http/okx_facilitator_client.go).
 */
export const make = (config: OkxFacilitatorConfig): Facilitator => {
  const base = (config.url ?? OKX_URL).replace(/\/+$/, "")
  const questionMillis = config.verifyTimeoutMillis ?? DEFAULT_QUESTION_TIMEOUT_MILLIS
  const settleMillis = config.settleTimeoutMillis ?? DEFAULT_SETTLE_TIMEOUT_MILLIS

  const call = Effect.fnUntraced(function* (name: string, query: string, body: string | null, timeoutMillis: number) {
    const path = `${PREFIX}${name}${query}`
    const headers = signedHeaders(
      config,
      Timestamp.toIso(yield* Timestamp.now),
      body === null ? "GET" : "POST",
      path,
      body
    )
    return yield* exchange({ name, url: `${base}${path}`, headers, body, timeoutMillis })
  })

  /** Polls until OKX reports the final status of a transaction that it submitted. */
  const followUp = (transaction: string): Effect.Effect<SettleAnswer> =>
    call("/settle/status", `?txHash=${transaction}`, null, questionMillis).pipe(
      Effect.map((answer) => readStatus(answer, transaction)),
      Effect.orElseSucceed(() => Option.none<SettleAnswer>()),
      Effect.repeat({ until: Option.isSome, schedule: Schedule.spaced(STATUS_INTERVAL) }),
      Effect.map(Option.getOrElse(() => PENDING))
    )

  return {
    ready: Effect.void,
    settle: (request) =>
      call("/settle", "", bodyOf(request, `,"syncSettle":true`), settleMillis).pipe(
        Effect.map(readSettlement),
        Effect.orElseSucceed(() => FacilitatorAnswer.unknown("The facilitator did not answer.")),
        Effect.flatMap((answer) => ("submitted" in answer ? followUp(answer.submitted) : Effect.succeed(answer))),
        Effect.timeoutOrElse({ duration: settleMillis, orElse: () => Effect.succeed(PENDING) })
      ),
    supports: Effect.fnUntraced(function* (network) {
      const data = yield* open("/supported", yield* call("/supported", "", null, questionMillis))
      const supported = decodeSupported(data)
      if (Option.isNone(supported)) return yield* facilitatorError("Temporary", "answered /supported without a list")
      return FacilitatorAnswer.supportOn(network, supported.value)
    })
  }
}

const PENDING = FacilitatorAnswer.unknown("The facilitator did not report the outcome of the payment in time.")

/**
 * Returns the headers that authenticate a request: a MAC over the time, the method, the path with its query,
 * and the body.
 */
const signedHeaders = (
  { apiKey, passphrase, secretKey }: OkxFacilitatorConfig,
  timestamp: string,
  method: string,
  path: string,
  body: string | null
) => ({
  "OK-ACCESS-KEY": Redacted.value(apiKey),
  "OK-ACCESS-SIGN": createHmac("sha256", Redacted.value(secretKey))
    .update(`${timestamp}${method}${path}${body ?? ""}`)
    .digest("base64"),
  "OK-ACCESS-PASSPHRASE": Redacted.value(passphrase),
  "OK-ACCESS-TIMESTAMP": timestamp
})

/** Returns the data of a successful envelope. */
const open = (name: string, answer: HttpAnswer): Effect.Effect<unknown, ProviderError> => {
  const envelope = decodeEnvelope(answer.body)
  if (Option.isNone(envelope)) {
    return Effect.fail(
      facilitatorError(reasonOf(answer.status), `answered ${name} with status ${answer.status} and no envelope`)
    )
  }
  const code = String(envelope.value.code)
  if (code === "0" && isSuccess(answer)) return Effect.succeed(envelope.value.data)
  const reason = OPERATORS.has(code)
    ? "Misconfigured"
    : REQUESTS.has(code)
      ? "Rejected"
      : answer.status === 401 || answer.status === 403
        ? "Misconfigured"
        : "Temporary"
  return Effect.fail(
    facilitatorError(reason, `answered ${name} with status ${answer.status} and code ${FacilitatorAnswer.codeOf(code)}`)
  )
}

const settlementIn = (answer: HttpAnswer) => {
  const envelope = decodeEnvelope(answer.body)
  return isSuccess(answer) && Option.isSome(envelope) && String(envelope.value.code) === "0"
    ? decodeSettlement(envelope.value.data)
    : Option.none()
}

/** Returns OKX's answer to a settlement, or the transaction that it submitted but has not seen confirmed. */
const readSettlement = (answer: HttpAnswer): SettleAnswer | { readonly submitted: string } => {
  const { accepted, codeOf, unconfirmed, isRefusal, isTransaction, refused, unknown } = FacilitatorAnswer
  const settlement = settlementIn(answer)
  if (Option.isNone(settlement))
    return unknown(`The facilitator answered with status ${answer.status} and no settlement.`)
  const { errorReason, status, success } = settlement.value
  const transaction = settlement.value.transaction ?? ""
  if (success && status === "success" && isTransaction(transaction)) return accepted(transaction)
  // Broadcast but not confirmed, or not within the time that OKX waits: its status is final a little later.
  if (isTransaction(transaction) && (status === "pending" || status === "timeout")) return { submitted: transaction }
  if (success) return unknown("The facilitator does not say that the chain has confirmed the payment.")
  const code = codeOf(errorReason)
  const failed = status === undefined || status === null || status === "" || status === "failed"
  return failed && transaction === "" && (isRefusal(code) || OKX_REFUSALS.has(code)) ? refused(code) : unconfirmed(code)
}

/** Reads the status of a transaction: none while it is pending. A failed one does not exclude that another was sent. */
const readStatus = (answer: HttpAnswer, transaction: string): Option.Option<SettleAnswer> => {
  const settlement = settlementIn(answer)
  if (Option.isNone(settlement)) return Option.none()
  const { status, success } = settlement.value
  if (success && status === "success") {
    const same = settlement.value.transaction?.toLowerCase() === transaction.toLowerCase()
    return Option.some(same ? FacilitatorAnswer.accepted(transaction) : PENDING)
  }
  return status === "failed" ? Option.some(FacilitatorAnswer.unconfirmed("failed")) : Option.none()
}
