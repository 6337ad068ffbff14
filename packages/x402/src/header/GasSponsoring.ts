import type { Extensions, PaymentProof, PaymentTerms } from "@agentos/core"
import { Option, Result, Schema, type SchemaIssue } from "effect"
import { GasSponsoring, type PaymentNetwork } from "../network/PaymentNetwork.ts"
import { PERMIT2 } from "../network/Permit2Address.ts"
import { Address, type FixedFields, Hex, Uint256 } from "./PaymentPayload.ts"

/*
 * x402's extensions by which a payment by Permit2 brings the allowance for its amount, which the facilitator submits. By
 * `eip2612GasSponsoring` (specs/extensions/eip2612_gas_sponsoring.md) that is the signature of a permit (EIP-2612), submitted in the
 * transaction of the payment. By `erc20ApprovalGasSponsoring` (specs/extensions/erc20_gas_sponsoring.md) it is a transaction that the
 * payer signed, submitted before.
 */

export const SPONSORING_EXTENSIONS = {
  eip2612: "eip2612GasSponsoring",
  erc20Approval: "erc20ApprovalGasSponsoring"
} as const satisfies Record<GasSponsoring, string>
const { eip2612: EIP2612, erc20Approval: ERC20_APPROVAL } = SPONSORING_EXTENSIONS

/** The fields that a client adds to `info`. */
const FIELDS: Readonly<Record<GasSponsoring, ReadonlyArray<string>>> = {
  eip2612: ["from", "asset", "spender", "amount", "nonce", "deadline", "signature", "version"],
  erc20Approval: ["from", "asset", "spender", "amount", "signedTransaction", "version"]
}

/** Returns the part of `extra` for a network whose payers may send an allowance. Without a version, clients sign no permit. */
export const sponsoredExtra = ({
  gasSponsoring,
  version
}: Pick<PaymentNetwork, "gasSponsoring" | "version">): Readonly<Record<string, string>> => ({
  ...(gasSponsoring === "eip2612" && version !== undefined && { version }),
  ...(gasSponsoring && { gasSponsoring })
})

/**
 * Returns the extensions of a challenge with these terms: one for each kind of allowance that any of them accept. They are short,
 * because the header has little room and clients echo all of it.
 */
export const sponsoringExtensions = (accepts: ReadonlyArray<Pick<PaymentTerms, "extra">>): Extensions =>
  Object.fromEntries(
    GasSponsoring.literals
      .filter((kind) => accepts.some(({ extra }) => extra["gasSponsoring"] === kind))
      .map((kind) => [
        SPONSORING_EXTENSIONS[kind],
        { info: { version: "1" }, schema: { type: "object", required: FIELDS[kind] } }
      ])
  )

/** Of the extension. @x402/evm 2.27.0 ignores an allowance without it. */
const Version = Schema.String.check(Schema.isPattern(/^\d+(?:\.\d+)*$/))
const Allowance = { from: Address, asset: Address, spender: Address, amount: Uint256, version: Version }
const Permit = Schema.Struct({ ...Allowance, nonce: Uint256, deadline: Uint256, signature: Hex("{130}") })
/** A transaction that calls `approve` has about 180 bytes. */
const Approval = Schema.Struct({ ...Allowance, signedTransaction: Hex("{2,1024}") })

/** A permit: its payer allows Permit2 the amount of the payment. */
export interface AllowancePermit {
  readonly kind: "eip2612"
  readonly nonce: bigint
  /** Unix seconds. */
  readonly deadline: bigint
  readonly signature: `0x${string}`
}

/** A signed transaction that is to allow Permit2 this amount, in base units. */
export interface AllowanceApproval {
  readonly kind: "erc20Approval"
  readonly amount: bigint
  readonly transaction: `0x${string}`
}

/** The allowance that comes with a payment. */
export type BroughtAllowance = AllowancePermit | AllowanceApproval

/** An `info` with the payer's signed facts. Without that, it is the server's own, which clients echo. */
const isSigned = {
  eip2612: Schema.is(
    Schema.Struct({ [EIP2612]: Schema.Struct({ info: Schema.Struct({ signature: Schema.Unknown }) }) })
  ),
  erc20Approval: Schema.is(
    Schema.Struct({ [ERC20_APPROVAL]: Schema.Struct({ info: Schema.Struct({ signedTransaction: Schema.Unknown }) }) })
  )
}

/** Returns the kinds of the allowances in the extensions of a payment. */
export const allowancesIn = (extensions: unknown): ReadonlyArray<GasSponsoring> =>
  GasSponsoring.literals.filter((kind) => isSigned[kind](extensions))

const Permitted = Schema.Struct({ [EIP2612]: Schema.Struct({ info: Permit }) })
const Approved = Schema.Struct({ [ERC20_APPROVAL]: Schema.Struct({ info: Approval }) })
const decodePermit = Schema.decodeUnknownResult(Permitted)
const decodeApproval = Schema.decodeUnknownResult(Approved)

/**
 * Returns the fields of an allowance, each with its required value. The spender must be Permit2, and the amount of a permit that of
 * the payment: x402's proxy takes no other.
 */
export const allowanceFields = (
  kind: GasSponsoring,
  extensions: unknown,
  { asset, payer, value }: Pick<PaymentProof, "asset" | "payer" | "value">
): Result.Result<FixedFields, SchemaIssue.Issue> => {
  const common = (info: { readonly from: string; readonly asset: string; readonly spender: string }): FixedFields => ({
    from: { value: info.from, expected: payer, what: "the payer" },
    asset: { value: info.asset, expected: asset, what: "the asset" },
    spender: { value: info.spender, expected: PERMIT2, what: "Permit2" }
  })
  return Result.mapError(
    kind === "eip2612"
      ? Result.map(decodePermit(extensions), ({ [EIP2612]: { info } }) => ({
          ...common(info),
          amount: { value: info.amount, expected: value.toString(), what: "the amount of the payment" }
        }))
      : Result.map(decodeApproval(extensions), ({ [ERC20_APPROVAL]: { info } }) => common(info)),
    ({ issue }) => issue
  )
}

const decodePayload = Schema.decodeUnknownOption(
  Schema.fromJsonString(Schema.Struct({ extensions: Schema.Union([Permitted, Approved]) }))
)

/** Returns the allowance in a proof, which `decodeProof` has checked. */
export const allowanceOf = ({ payload }: Pick<PaymentProof, "payload">): BroughtAllowance | undefined =>
  Option.match(decodePayload(payload), {
    onNone: () => undefined,
    onSome: ({ extensions }) => {
      if (EIP2612 in extensions) {
        const { deadline, nonce, signature } = extensions[EIP2612].info
        return {
          kind: "eip2612",
          nonce: BigInt(nonce),
          deadline: BigInt(deadline),
          signature: signature as `0x${string}`
        }
      }
      const { amount, signedTransaction } = extensions[ERC20_APPROVAL].info
      return { kind: "erc20Approval", amount: BigInt(amount), transaction: signedTransaction as `0x${string}` }
    }
  })

/** Returns the payload of a proof without its approval, which is not sent twice. */
export const withoutApproval = (payload: string): string => {
  const { extensions, ...payment } = JSON.parse(payload) as { readonly extensions: Readonly<Record<string, unknown>> }
  const { [ERC20_APPROVAL]: _sent, ...others } = extensions
  return JSON.stringify({ ...payment, extensions: others })
}
