import { ProofInvalid, ProviderError, type SettleAnswer } from "@agentos/core"
import { Effect, Option, Redacted, Schema } from "effect"
import { PROVIDER } from "../PaymentNetwork.ts"
import type { Facilitator, FacilitatorRequest } from "./Facilitator.ts"
import type { HttpFacilitatorConfig } from "./FacilitatorConfig.ts"

const DEFAULT_VERIFY_TIMEOUT_MILLIS = 10_000
const DEFAULT_SETTLE_TIMEOUT_MILLIS = 30_000
/** Largest answer that is read. A facilitator of many networks says what it supports in some 20 KB. */
const ANSWER_BYTES_MAX = 256 * 1_024

const optionalText = Schema.optionalKey(Schema.NullOr(Schema.String))
const decodeVerdict = Schema.decodeUnknownOption(
  Schema.fromJsonString(Schema.Struct({ isValid: Schema.Boolean, invalidReason: optionalText }))
)
const decodeSettlement = Schema.decodeUnknownOption(
  Schema.fromJsonString(
    Schema.Struct({ success: Schema.Boolean, transaction: optionalText, errorReason: optionalText })
  )
)
const decodeSupported = Schema.decodeUnknownOption(
  Schema.fromJsonString(
    Schema.Struct({
      kinds: Schema.Array(Schema.Struct({ x402Version: Schema.Number, scheme: Schema.String, network: Schema.String }))
    })
  )
)

/**
 * Reasons by which a facilitator says that it did not submit the payment: what it found in the payment itself, before
 * anything was sent. From x402 version 2, section 9, and from `@x402/evm`. Every other reason counts as unknown, those
 * above all that a payment which did settle can bring about: `settlement_pending`, `…_transaction_failed`,
 * `…_nonce_already_used`, `…_transaction_simulation_failed`, `invalid_transaction_state`, `unexpected_settle_error`.
 */
const REFUSALS: ReadonlySet<string> = new Set([
  "asset_not_deployed_contract",
  "insufficient_funds",
  "invalid_exact_evm_authorization_value",
  "invalid_exact_evm_eip3009_not_supported",
  "invalid_exact_evm_failed_to_parse_signature",
  "invalid_exact_evm_insufficient_balance",
  "invalid_exact_evm_missing_eip712_domain",
  "invalid_exact_evm_network_mismatch",
  "invalid_exact_evm_recipient_mismatch",
  "invalid_exact_evm_scheme",
  "invalid_exact_evm_signature",
  "invalid_exact_evm_token_name_mismatch",
  "invalid_exact_evm_token_version_mismatch",
  "invalid_network",
  "invalid_payload",
  "invalid_payment_requirements",
  "invalid_scheme",
  "invalid_x402_version",
  "unsupported_payload_type",
  "unsupported_scheme"
])
/** What all reasons begin with that speak of the payload as it was sent. */
const PAYLOAD_REFUSAL = "invalid_exact_evm_payload_"

const isRefusal = (code: string): boolean => REFUSALS.has(code) || code.startsWith(PAYLOAD_REFUSAL)

/** Verdicts that speak of the facilitator's own trouble, not of the payment. */
const TROUBLES: ReadonlySet<string> = new Set(["unexpected_verify_error"])

/** A reason as it may be shown: codes alone, since the texts beside them can hold addresses of nodes with their keys. */
const codeOf = (reason: string | null | undefined): string =>
  typeof reason === "string" && /^[a-z0-9_.:-]{1,80}$/i.test(reason) ? reason : "no reason given"

/** An answer with any status, its body read to the end. */
interface HttpAnswer {
  readonly status: number
  readonly body: string
}

/**
 * A client of a facilitator with the standard HTTP interface (x402 version 2, section 7). A settlement that is
 * answered with any status but 2xx is `Unknown`.
 */
export const make = (config: HttpFacilitatorConfig): Facilitator => {
  const base = config.url.replace(/\/+$/, "")
  const verifyMillis = config.verifyTimeoutMillis ?? DEFAULT_VERIFY_TIMEOUT_MILLIS
  const settleMillis = config.settleTimeoutMillis ?? DEFAULT_SETTLE_TIMEOUT_MILLIS

  const call = (name: string, timeoutMillis: number, request: FacilitatorRequest | null) =>
    Effect.tryPromise({
      try: (signal) => exchange(`${base}/${name}`, config.headers ?? {}, request, signal),
      catch: (cause) => trouble("Temporary", `could not be reached for /${name}`, cause)
    }).pipe(
      Effect.timeoutOrElse({
        duration: timeoutMillis,
        orElse: () => Effect.fail(trouble("Temporary", `did not answer /${name} within ${timeoutMillis} ms`))
      })
    )

  return {
    verify: Effect.fnUntraced(function* (request) {
      const answer = yield* call("verify", verifyMillis, request)
      const verdict = decodeVerdict(answer.body)
      // Some facilitators give a verdict with a status of 400: it is one all the same.
      if (Option.isNone(verdict) || (verdict.value.isValid && !isSuccess(answer))) {
        return yield* trouble(reasonOf(answer.status), `answered /verify with status ${answer.status} and no verdict`)
      }
      const code = codeOf(verdict.value.invalidReason)
      if (verdict.value.isValid) return
      if (TROUBLES.has(code)) return yield* trouble("Temporary", `could not verify the payment: ${code}`)
      return yield* new ProofInvalid({ message: `The facilitator does not accept the payment: ${code}.` })
    }),
    settle: (request) =>
      Effect.map(Effect.option(call("settle", settleMillis, request)), (answer) =>
        Option.match(answer, {
          onNone: () => unknown("The facilitator did not answer."),
          onSome: readSettlement
        })
      ),
    supports: Effect.fnUntraced(function* (network) {
      const answer = yield* call("supported", verifyMillis, null)
      const supported = isSuccess(answer) ? decodeSupported(answer.body) : Option.none()
      if (Option.isNone(supported)) {
        return yield* trouble(reasonOf(answer.status), `answered /supported with status ${answer.status} and no list`)
      }
      const names = [network, network.replace(/:.*/, ":*")]
      return supported.value.kinds.some(
        (kind) => kind.x402Version === 2 && kind.scheme === "exact" && names.includes(kind.network)
      )
    })
  }
}

const readSettlement = (answer: HttpAnswer): SettleAnswer => {
  if (!isSuccess(answer)) return unknown(`The facilitator answered with status ${answer.status}.`)
  const settlement = decodeSettlement(answer.body)
  if (Option.isNone(settlement)) return unknown("The facilitator's answer could not be read.")
  const { errorReason, success } = settlement.value
  const transaction = settlement.value.transaction ?? ""
  const code = codeOf(errorReason)
  if (success) {
    return isTransaction(transaction)
      ? { _tag: "Accepted", transaction: transaction.toLowerCase() }
      : unknown("The facilitator says that the payment settled, and not in which transaction.")
  }
  return transaction === "" && isRefusal(code)
    ? { _tag: "Refused", message: `The facilitator refused the payment: ${code}.` }
    : unknown(`The facilitator could not say that the payment failed: ${code}.`)
}

const unknown = (message: string): SettleAnswer => ({ _tag: "Unknown", message })

const isTransaction = (text: string): boolean => /^0x[0-9a-f]{64}$/i.test(text) && !/^0x0+$/.test(text)

const isSuccess = ({ status }: HttpAnswer): boolean => status >= 200 && status < 300

/** What a status without a verdict means: nothing happened in any case. */
const reasonOf = (status: number): ProviderError["reason"] => {
  if ([401, 403, 404, 405].includes(status)) return "Misconfigured"
  return status >= 400 && status < 500 && status !== 408 && status !== 425 && status !== 429 ? "Rejected" : "Temporary"
}

const trouble = (reason: ProviderError["reason"], what: string, cause?: unknown): ProviderError =>
  new ProviderError({
    provider: PROVIDER,
    reason,
    message: `The payment facilitator ${what}.`,
    ...(cause === undefined ? {} : { cause })
  })

/**
 * One request, and its answer read to the end. Redirects are refused: followed, they would submit a payment to
 * whoever the answer names, or turn into a question that settles nothing.
 */
const exchange = async (
  url: string,
  headers: NonNullable<HttpFacilitatorConfig["headers"]>,
  request: FacilitatorRequest | null,
  signal: AbortSignal
): Promise<HttpAnswer> => {
  const response = await fetch(url, {
    method: request === null ? "GET" : "POST",
    headers: {
      accept: "application/json",
      ...(request === null ? {} : { "content-type": "application/json" }),
      ...Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, Redacted.value(value)]))
    },
    body:
      request === null
        ? null
        : `{"x402Version":2,"paymentPayload":${request.payload},"paymentRequirements":${request.requirements}}`,
    redirect: "error",
    signal
  })
  return { status: response.status, body: await readBody(response) }
}

const readBody = async (response: Response): Promise<string> => {
  const decoder = new TextDecoder()
  let body = ""
  let length = 0
  for await (const chunk of response.body ?? []) {
    length += chunk.byteLength
    if (length > ANSWER_BYTES_MAX) throw new Error(`an answer of more than ${ANSWER_BYTES_MAX} bytes`)
    body += decoder.decode(chunk, { stream: true })
  }
  return body + decoder.decode()
}
