import type { Extensions, PaymentProof, PaymentTerms } from "@agentos/core"
import { Option, Result, Schema, type SchemaIssue } from "effect"
import { PERMIT2 } from "../network/Permit2Address.ts"
import { Address, type FixedFields, Hex, Uint256 } from "./PaymentPayload.ts"

/*
 * x402's extension `eip2612GasSponsoring` (specs/extensions/eip2612_gas_sponsoring.md): with its payment by Permit2, a client sends
 * the signature that allows Permit2 the amount (permit of EIP-2612), which the facilitator submits in the same transaction.
 */

export const GAS_SPONSORING = "eip2612GasSponsoring"

/** The extension as a challenge declares it: short, because the header has little room and clients echo all of it. */
const DECLARATION = {
  info: { version: "1" },
  schema: {
    type: "object",
    required: ["from", "asset", "spender", "amount", "nonce", "deadline", "signature", "version"]
  }
}

/** The field of `extra` that marks the terms whose payers may send a permit. */
const SPONSORED = { gasSponsoring: "eip2612" } as const

/** Returns the part of `extra` for a network that accepts permits, with the version without which clients sign none. */
export const sponsoredExtra = (version: string | undefined): Readonly<Record<string, string>> => ({
  ...(version === undefined ? {} : { version }),
  ...SPONSORED
})

/** Returns the extension of a challenge with these terms, if any of them accept permits. */
export const sponsoringExtension = (accepts: ReadonlyArray<Pick<PaymentTerms, "extra">>): Extensions =>
  accepts.some(({ extra }) => extra["gasSponsoring"] === SPONSORED.gasSponsoring)
    ? { [GAS_SPONSORING]: DECLARATION }
    : {}

const Permit = Schema.Struct({
  from: Address,
  asset: Address,
  spender: Address,
  amount: Uint256,
  nonce: Uint256,
  deadline: Uint256,
  signature: Hex("{130}")
})

/** A permit: its payer allows Permit2 the amount of the payment. */
export interface AllowancePermit {
  readonly nonce: bigint
  /** Unix seconds. */
  readonly deadline: bigint
  readonly signature: `0x${string}`
}

/** An `info` with a signature: without one, it is the server's own, which clients echo. */
const decodeSigned = Schema.decodeUnknownOption(
  Schema.Struct({ [GAS_SPONSORING]: Schema.Struct({ info: Schema.Struct({ signature: Schema.Unknown }) }) })
)
const decodePermit = Schema.decodeUnknownResult(Schema.Struct({ [GAS_SPONSORING]: Schema.Struct({ info: Permit }) }))

/**
 * Returns the fields of the permit in the extensions of a payment by Permit2, each with its required value; undefined without a permit.
 * The spender must be Permit2, and the amount that of the payment: x402's proxy takes no other.
 */
export const permitFields = (
  extensions: unknown,
  { asset, payer, value }: Pick<PaymentProof, "asset" | "payer" | "value">
): Result.Result<FixedFields, SchemaIssue.Issue> | undefined => {
  if (Option.isNone(decodeSigned(extensions))) return undefined
  return Result.mapBoth(decodePermit(extensions), {
    onFailure: ({ issue }) => issue,
    onSuccess: ({ [GAS_SPONSORING]: { info } }) => ({
      from: { value: info.from, expected: payer, what: "the payer" },
      asset: { value: info.asset, expected: asset, what: "the asset" },
      spender: { value: info.spender, expected: PERMIT2, what: "Permit2" },
      amount: { value: info.amount, expected: value.toString(), what: "the amount of the payment" }
    })
  })
}

const decodePayload = Schema.decodeUnknownOption(
  Schema.fromJsonString(
    Schema.Struct({ extensions: Schema.Struct({ [GAS_SPONSORING]: Schema.Struct({ info: Permit }) }) })
  )
)

/** Returns the permit in a proof, which `decodeProof` has checked. */
export const permitOf = ({ payload }: Pick<PaymentProof, "payload">): AllowancePermit | undefined =>
  Option.match(decodePayload(payload), {
    onNone: () => undefined,
    onSome: ({
      extensions: {
        [GAS_SPONSORING]: { info }
      }
    }) => ({
      nonce: BigInt(info.nonce),
      deadline: BigInt(info.deadline),
      signature: info.signature as `0x${string}`
    })
  })
