import type { FacilitatorRequest } from "../facilitator/Facilitator.ts"
import { Option, Schema } from "effect"
import { type Hex, keccak256, numberToHex, stringToHex } from "viem"
import { hexOf } from "../network/AuthorizedTransfer.ts"
import type { TransferMethodName } from "../network/PaymentNetwork.ts"

const Requirements = Schema.Struct({
  scheme: Schema.String,
  network: Schema.TemplateLiteral([Schema.String, ":", Schema.String]),
  asset: Schema.String,
  amount: Schema.String,
  payTo: Schema.String,
  maxTimeoutSeconds: Schema.Finite,
  extra: Schema.mutableKey(Schema.Record(Schema.String, Schema.Unknown))
})

const Eip3009Payload = Schema.Struct({
  signature: Schema.String,
  authorization: Schema.Struct({
    from: Schema.String,
    to: Schema.String,
    value: Schema.String,
    validAfter: Schema.String,
    validBefore: Schema.String,
    nonce: Schema.String
  })
})

const Permit2Payload = Schema.Struct({
  signature: Schema.String,
  permit2Authorization: Schema.Struct({
    from: Schema.String,
    permitted: Schema.Struct({ token: Schema.String, amount: Schema.String }),
    spender: Schema.String,
    nonce: Schema.String.check(Schema.isPattern(/^\d{1,78}$/)),
    deadline: Schema.String,
    witness: Schema.Struct({ to: Schema.String, validAfter: Schema.String })
  })
})

const Payload = Schema.Struct({
  x402Version: Schema.Literal(2),
  accepted: Requirements,
  payload: Schema.Union([Eip3009Payload, Permit2Payload]),
  extensions: Schema.optionalKey(Schema.mutableKey(Schema.Record(Schema.String, Schema.Unknown)))
})

const decodePayload = Schema.decodeUnknownOption(Schema.fromJsonString(Payload))
const decodeRequirements = Schema.decodeUnknownOption(Schema.fromJsonString(Requirements))

/** A payment with its requirements, in the types that `@x402/evm` accepts. */
export interface DecodedPayment {
  readonly payload: typeof Payload.Type
  readonly requirements: typeof Requirements.Type
  readonly method: TransferMethodName
  /** In lower case. */
  readonly payer: Hex
  /** 32 bytes in lower case. */
  readonly nonce: Hex
}

export const decodePayment = (request: FacilitatorRequest): Option.Option<DecodedPayment> =>
  Option.map(
    Option.all({ payload: decodePayload(request.payload), requirements: decodeRequirements(request.requirements) }),
    (payment) => ({ ...payment, ...authorizationOf(payment.payload.payload) })
  )

const authorizationOf = (
  payload: (typeof Payload.Type)["payload"]
): Pick<DecodedPayment, "method" | "payer" | "nonce"> => {
  if ("authorization" in payload) {
    const { from, nonce } = payload.authorization
    return { method: "eip3009", payer: hexOf(from), nonce: hexOf(nonce) }
  }
  const { from, nonce } = payload.permit2Authorization
  return { method: "permit2", payer: hexOf(from), nonce: numberToHex(BigInt(nonce), { size: 32 }) }
}

/** Returns the reference of the transaction that calls a factory to deploy a smart account. */
export const deploymentReferenceOf = (factory: string, data: Hex): string =>
  ["deployment", factory.toLowerCase(), keccak256(data).slice(2, 34)].join(":")

/**
 * Returns the reference of a settlement among the transactions of a gas wallet: the authorization, for human
 * readers, and a hash of its signature, which stands for all that the payer signed.
 */
export const referenceOf = ({ method, nonce, payer, payload, requirements }: DecodedPayment): string => {
  const signed = keccak256(stringToHex(payload.payload.signature.toLowerCase())).slice(2, 18)
  return [method, requirements.asset.toLowerCase(), payer, nonce, signed].join(":")
}
