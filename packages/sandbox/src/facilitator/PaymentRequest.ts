import { isPaymentPayloadV2, isPaymentRequirementsV2 } from "@x402/core/schemas"
import type { PaymentPayload, PaymentRequirements } from "@x402/core/types"
import * as Schema from "effect/Schema"

/** The body of /verify and of /settle. */
export interface PaymentRequest {
  readonly paymentPayload: PaymentPayload
  readonly paymentRequirements: PaymentRequirements
}

/** The only payments that are taken: one asset, on one network. */
export interface PaymentTerms {
  readonly network: string
  readonly asset: string
}

const Address = Schema.String.check(Schema.isPattern(/^0x[0-9a-fA-F]{40}$/))
const Uint = Schema.String.check(Schema.isPattern(/^\d{1,78}$/))

const Authorization = Schema.Struct({
  from: Address,
  to: Address,
  value: Uint,
  validAfter: Uint,
  validBefore: Uint,
  nonce: Schema.String.check(Schema.isPattern(/^0x[0-9a-fA-F]{64}$/))
})

const isEip3009Payload = Schema.is(
  Schema.Struct({
    signature: Schema.String.check(Schema.isPattern(/^0x(?:[0-9a-fA-F]{2})+$/)),
    authorization: Authorization
  })
)
const isAddress = Schema.is(Address)
const isUint = Schema.is(Uint)

/** The request that a body holds, or undefined where it isn't one of x402 version 2. */
export const readPaymentRequest = (body: unknown): PaymentRequest | undefined => {
  if (typeof body !== "object" || body === null) return undefined
  const { x402Version, paymentPayload, paymentRequirements } = body as Record<string, unknown>
  if (x402Version !== 2 || !isPaymentPayloadV2(paymentPayload) || !isPaymentRequirementsV2(paymentRequirements)) {
    return undefined
  }
  // The schemas allow null where the library's own types say that a part is absent.
  return { paymentPayload, paymentRequirements } as PaymentRequest
}

/**
 * Why a request can't even be looked at, in x402's words; undefined where it can. The library trusts its input from
 * here on: it throws on an address or a number that is none.
 */
export const unfitness = (request: PaymentRequest, terms: PaymentTerms): string | undefined => {
  const { paymentPayload, paymentRequirements } = request
  if (paymentRequirements.scheme !== "exact" || paymentPayload.accepted.scheme !== "exact") return "unsupported_scheme"
  if (paymentRequirements.network !== terms.network) return "invalid_network"
  const known = paymentRequirements.asset.toLowerCase() === terms.asset.toLowerCase()
  if (!known || !isAddress(paymentRequirements.payTo) || !isUint(paymentRequirements.amount)) {
    return "invalid_payment_requirements"
  }
  return isEip3009Payload(paymentPayload.payload) ? undefined : "invalid_payload"
}

/** What makes an authorization one: it can be used once per payer and nonce. For a request that is fit. */
export const authorizationKey = (request: PaymentRequest): string => {
  const { authorization } = request.paymentPayload.payload as { readonly authorization: typeof Authorization.Type }
  return `${authorization.from}:${authorization.nonce}`.toLowerCase()
}

/** The authorization's nonce, or nothing where the payload is none. */
export const nonceOf = ({ paymentPayload }: PaymentRequest): ReadonlyArray<string> =>
  isEip3009Payload(paymentPayload.payload) ? [paymentPayload.payload.authorization.nonce] : []
