import type { FacilitatorRequest } from "../facilitator/Facilitator.ts"
import { Option, Schema } from "effect"
import { type Hex, keccak256, stringToHex } from "viem"

const Requirements = Schema.Struct({
  scheme: Schema.String,
  network: Schema.TemplateLiteral([Schema.String, ":", Schema.String]),
  asset: Schema.String,
  amount: Schema.String,
  payTo: Schema.String,
  maxTimeoutSeconds: Schema.Finite,
  extra: Schema.mutableKey(Schema.Record(Schema.String, Schema.Unknown))
})

const Payload = Schema.Struct({
  x402Version: Schema.Literal(2),
  accepted: Requirements,
  payload: Schema.Struct({
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
})

const decodePayload = Schema.decodeUnknownOption(Schema.fromJsonString(Payload))
const decodeRequirements = Schema.decodeUnknownOption(Schema.fromJsonString(Requirements))

/** An EIP-3009 payment with its requirements, in the types that `@x402/evm` accepts. */
export interface DecodedPayment {
  readonly payload: typeof Payload.Type
  readonly requirements: typeof Requirements.Type
}

export const decodePayment = (request: FacilitatorRequest): Option.Option<DecodedPayment> =>
  Option.all({ payload: decodePayload(request.payload), requirements: decodeRequirements(request.requirements) })

/** Returns the reference of the transaction that calls a factory to deploy a smart account. */
export const deploymentReferenceOf = (factory: string, data: Hex): string =>
  ["deployment", factory.toLowerCase(), keccak256(data).slice(2, 34)].join(":")

/**
 * Returns the reference of a settlement among the transactions of a gas wallet: the authorization, for human
 * readers, and a hash of its signature, which stands for all that the payer signed.
 */
export const referenceOf = ({ payload, requirements }: DecodedPayment): string => {
  const { authorization, signature } = payload.payload
  const signed = keccak256(stringToHex(signature.toLowerCase())).slice(2, 18)
  return [
    "eip3009",
    requirements.asset.toLowerCase(),
    authorization.from.toLowerCase(),
    authorization.nonce.toLowerCase(),
    signed
  ].join(":")
}
