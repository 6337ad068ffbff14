import type { PaymentProof } from "@agentos/core"
import { Result, Schema, type SchemaIssue } from "effect"
import { isAddress, numberToHex } from "viem"
import { PERMIT2_PROXY } from "../network/Permit2Address.ts"
import type { TransferMethodName } from "../network/PaymentNetwork.ts"

/*
 * The payload of a payment, by transfer method (specs/schemes/exact/scheme_exact_evm.md). It has exactly these fields, so that no
 * facilitator can find a second payment beside the one that was checked.
 */

export const Hex = (digits: string) => Schema.String.check(Schema.isPattern(new RegExp(`^0x[0-9a-fA-F]${digits}$`)))
export const Address = Hex("{40}")
/** Facilitators refuse an address in other letters, and would do so only after the claim. */
const Payer = Address.check(
  Schema.makeFilter((text) => isAddress(text) || "must be in lower case, or have its checksum (ERC-55)", {}, true)
)
const Bytes32 = Hex("{64}")
/** A whole number in its only decimal form: facilitators differ in which other forms they accept. */
export const Decimal = Schema.String.check(Schema.isPattern(/^(?:0|[1-9]\d{0,77})$/))
export const Uint256 = Decimal.check(
  Schema.makeFilter((text) => BigInt(text) < 2n ** 256n || "must have at most 256 bits", {}, true)
)
/** Unix seconds, small enough to stay exact in a double when a margin is added. */
const Seconds = Decimal.check(Schema.isMaxLength(15))

const Eip3009Payload = Schema.Struct({
  signature: Hex("+"),
  authorization: Schema.Struct({
    from: Payer,
    to: Address,
    value: Uint256,
    validAfter: Seconds,
    validBefore: Seconds,
    nonce: Bytes32
  })
})

const Permit2Payload = Schema.Struct({
  signature: Hex("+"),
  permit2Authorization: Schema.Struct({
    from: Payer,
    permitted: Schema.Struct({ token: Address, amount: Uint256 }),
    spender: Address,
    nonce: Uint256,
    deadline: Seconds,
    witness: Schema.Struct({ to: Address, validAfter: Seconds })
  })
})

const decodeEip3009 = Schema.decodeUnknownResult(Eip3009Payload, { onExcessProperty: "error" })
const decodePermit2 = Schema.decodeUnknownResult(Permit2Payload, { onExcessProperty: "error" })

/** The signed fields, as a proof has them. */
export interface AuthorizedPayload extends Pick<
  PaymentProof,
  "payer" | "payTo" | "value" | "nonce" | "validAfter" | "validBefore"
> {
  readonly fixed: FixedFields
}

/** Fields of a payment that repeat others, by their paths, each with its required value. The case of letters does not matter. */
export type FixedFields = Readonly<
  Record<string, { readonly value: string; readonly expected: string; readonly what: string }>
>

/** Decodes the payload of a transfer method, for terms with this asset. */
export const decodePayload = (
  method: TransferMethodName,
  payload: unknown,
  asset: string
): Result.Result<AuthorizedPayload, SchemaIssue.Issue> =>
  method === "eip3009"
    ? Result.mapBoth(decodeEip3009(payload), {
        onFailure: ({ issue }) => issue,
        onSuccess: ({ authorization: { from, nonce, to, validAfter, validBefore, value } }) => ({
          payer: from.toLowerCase(),
          payTo: to,
          value: BigInt(value),
          nonce: nonce.toLowerCase(),
          validAfter: Number(validAfter),
          validBefore: Number(validBefore),
          fixed: {}
        })
      })
    : Result.mapBoth(decodePermit2(payload), {
        onFailure: ({ issue }) => issue,
        onSuccess: ({ permit2Authorization: { deadline, from, nonce, permitted, spender, witness } }) => ({
          payer: from.toLowerCase(),
          payTo: witness.to,
          value: BigInt(permitted.amount),
          nonce: numberToHex(BigInt(nonce), { size: 32 }),
          validAfter: Number(witness.validAfter),
          validBefore: Number(deadline),
          fixed: {
            "permit2Authorization.permitted.token": { value: permitted.token, expected: asset, what: "the asset" },
            // The payer allows x402's proxy alone to transfer, and the proxy transfers to `witness.to` alone.
            "permit2Authorization.spender": { value: spender, expected: PERMIT2_PROXY, what: "x402's proxy" }
          }
        })
      })
