import { createHmac } from "node:crypto"
import { type ProviderError, type SettleAnswer, Timestamp } from "@agentos/core"
import { Effect, Option, Redacted, Schedule, Schema } from "effect"
import type { Facilitator } from "./Facilitator.ts"
import * as FacilitatorAnswer from "./FacilitatorAnswer.ts"
import type { OkxFacilitatorConfig } from "./FacilitatorConfig.ts"
import { bodyOf, exchange, type HttpAnswer, isSuccess, reasonOf, trouble } from "./FacilitatorExchange.ts"

/** Where OKX serves it (Onchain OS, "HTTP API - One-time Payment"). */
export const OKX_URL = "https://web3.okx.com"
const PREFIX = "/api/v6/pay/x402"

const DEFAULT_QUESTION_TIMEOUT_MILLIS = 10_000
/** OKX waits for the chain itself before it answers. */
const DEFAULT_SETTLE_TIMEOUT_MILLIS = 30_000
/** How often the status of a settlement is asked for that was not final when it was answered. */
const STATUS_INTERVAL = "1 second"

/** A uniform envelope; the code is documented as text and given as a number by some of OKX's own clients. */
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

/** Codes of the envelope that the operator must mend: a key, secret, passphrase, clock, region or address that is wrong. */
const OPERATORS: ReadonlySet<string> = new Set(
  "50103 50104 50105 50106 50107 50111 50112 50113 50114 50125 50404".split(" ")
)
/** Codes that speak of what was asked: a parameter that is missing or wrong. */
const REQUESTS: ReadonlySet<string> = new Set(["30001", "50014", "50036", "51000"])

/**
 * Reasons of OKX's own that say what was found in the payment before anything was submitted ("Payment Error
 * Handling"). Those that a payment in flight or settled can bring about are not here: `nonce_used`, `onchain_error`,
 * "payment processing".
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
 * A client of OKX's facilitator, which differs from the standard interface in three ways: every request is signed,
 * every answer comes in an envelope `{code, msg, data}`, and a settlement has a `status`, of which only `success`
 * is one. Everything that is neither a plain success nor one of the documented refusals is `Unknown`.
 *
 * Sources: "HTTP API - One-time Payment" (https://web3.okx.com/onchainos/dev-docs/payments/api-http-onetime), "Query
 * Settlement Status" (…/payments/api-query-settlement-status), "Payment Error Handling"
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

  /** Asks until OKX says what became of a transaction that it submitted. */
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
      if (Option.isNone(supported)) return yield* trouble("Temporary", "answered /supported without a list")
      return FacilitatorAnswer.supportsExact(supported.value, network)
    })
  }
}

const PENDING = FacilitatorAnswer.unknown("The facilitator did not say in time what became of the payment.")

/** The headers that say who asks: a MAC over the moment, the method, the path with its query, and the body. */
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

/** The data of an envelope that says that all is well. */
const open = (name: string, answer: HttpAnswer): Effect.Effect<unknown, ProviderError> => {
  const envelope = decodeEnvelope(answer.body)
  if (Option.isNone(envelope)) {
    return Effect.fail(
      trouble(reasonOf(answer.status), `answered ${name} with status ${answer.status} and no envelope`)
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
    trouble(reason, `answered ${name} with status ${answer.status} and code ${FacilitatorAnswer.codeOf(code)}`)
  )
}

const settlementIn = (answer: HttpAnswer) => {
  const envelope = decodeEnvelope(answer.body)
  return isSuccess(answer) && Option.isSome(envelope) && String(envelope.value.code) === "0"
    ? decodeSettlement(envelope.value.data)
    : Option.none()
}

/** What OKX says to a settlement, or the transaction that it submitted and has not seen confirmed. */
const readSettlement = (answer: HttpAnswer): SettleAnswer | { readonly submitted: string } => {
  const { accepted, codeOf, doubtful, isRefusal, isTransaction, refused, unknown } = FacilitatorAnswer
  const settlement = settlementIn(answer)
  if (Option.isNone(settlement))
    return unknown(`The facilitator answered with status ${answer.status} and no settlement.`)
  const { errorReason, status, success } = settlement.value
  const transaction = settlement.value.transaction ?? ""
  if (success && status === "success" && isTransaction(transaction)) return accepted(transaction)
  // Broadcast and not confirmed, or not within the time that OKX itself waits: it knows more a little later.
  if (isTransaction(transaction) && (status === "pending" || status === "timeout")) return { submitted: transaction }
  if (success) return unknown("The facilitator does not say that the chain has confirmed the payment.")
  const code = codeOf(errorReason)
  const failed = status === undefined || status === null || status === "" || status === "failed"
  return failed && transaction === "" && (isRefusal(code) || OKX_REFUSALS.has(code)) ? refused(code) : doubtful(code)
}

/** What the status of a transaction says: none while it is pending. That it failed does not say that no other was sent. */
const readStatus = (answer: HttpAnswer, transaction: string): Option.Option<SettleAnswer> => {
  const settlement = settlementIn(answer)
  if (Option.isNone(settlement)) return Option.none()
  const { status, success } = settlement.value
  if (success && status === "success") {
    const same = settlement.value.transaction?.toLowerCase() === transaction.toLowerCase()
    return Option.some(same ? FacilitatorAnswer.accepted(transaction) : PENDING)
  }
  return status === "failed" ? Option.some(FacilitatorAnswer.doubtful("failed")) : Option.none()
}
