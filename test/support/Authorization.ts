import { type ChainDescription, permit2Address, permit2ProxyAddress, sandboxUsdtAbi } from "@agentos/sandbox"
import type { PaymentPayload } from "@x402/core/types"
import { x402ExactPermit2ProxyABI } from "@x402/evm"
import type { Eip2612GasSponsoringInfo } from "@x402/extensions"
import {
  type Address,
  concat,
  decodeFunctionData,
  encodeFunctionData,
  type Hex,
  numberToHex,
  parseAbi,
  parseSignature
} from "viem"

/** A transfer that its payer has authorized, by either method, ready to submit. */
export interface SignedAuthorization {
  readonly from: Address
  readonly to: Address
  readonly value: bigint
  readonly validAfter: bigint
  /** The deadline of a permit. */
  readonly validBefore: bigint
  /** 32 bytes in lower case. */
  readonly nonce: Hex
  readonly signature: Hex
  /** The allowance for Permit2 that comes with the payment (EIP-2612). */
  readonly permit?: SignedPermit | undefined
}

export interface SignedPermit {
  readonly value: bigint
  readonly deadline: bigint
  readonly r: Hex
  readonly s: Hex
  readonly v: number
}

export type TransferMethod = ChainDescription["transferMethod"]

/** Every transfer method, for suites that run by each. */
export const TRANSFER_METHODS: ReadonlyArray<TransferMethod> = ["eip3009", "permit2"]

/** How customers pay: by a transfer method, or by Permit2 with the allowance in each payment. */
export type PaymentMethod = TransferMethod | "sponsored"
export const PAYMENT_METHODS: ReadonlyArray<PaymentMethod> = [...TRANSFER_METHODS, "sponsored"]

export interface Call {
  readonly to: Address
  readonly data: Hex
}

/** How a transfer method writes an authorization. */
interface AuthorizationForm {
  /** Reads the payload of a payment. */
  readonly read: (payload: Readonly<Record<string, unknown>>) => SignedAuthorization
  /** Writes the payload of a payment. */
  readonly write: (signed: SignedAuthorization, asset: Address) => Readonly<Record<string, unknown>>
  /** The call that executes the transfer, as anyone can send it. */
  readonly call: (signed: SignedAuthorization, asset: Address) => Call
  /** Reads the data of such a call; undefined if it is another one. */
  readonly decode: (data: Hex) => SignedAuthorization | undefined
}

const nonceOf = (nonce: bigint): Hex => numberToHex(nonce, { size: 32 })
const undefinedIfFails = <A>(read: () => A): A | undefined => {
  try {
    return read()
  } catch {
    return undefined
  }
}

const eip3009: AuthorizationForm = {
  read: (payload) => {
    const { authorization, signature } = payload as {
      readonly authorization: Readonly<Record<keyof SignedAuthorization, string>>
      readonly signature: Hex
    }
    return {
      from: authorization.from as Address,
      to: authorization.to as Address,
      value: BigInt(authorization.value),
      validAfter: BigInt(authorization.validAfter),
      validBefore: BigInt(authorization.validBefore),
      nonce: authorization.nonce.toLowerCase() as Hex,
      signature
    }
  },
  write: ({ signature, validAfter, validBefore, value, ...rest }) => ({
    signature,
    authorization: {
      ...rest,
      value: String(value),
      validAfter: String(validAfter),
      validBefore: String(validBefore)
    }
  }),
  call: ({ from, nonce, signature, to, validAfter, validBefore, value }, asset) => ({
    to: asset,
    data: encodeFunctionData({
      abi: sandboxUsdtAbi,
      functionName: "transferWithAuthorization",
      args: [from, to, value, validAfter, validBefore, nonce, signature]
    })
  }),
  decode: (data) => {
    const call = undefinedIfFails(() => decodeFunctionData({ abi: sandboxUsdtAbi, data }))
    if (call?.functionName !== "transferWithAuthorization") return undefined
    const [from, to, value, validAfter, validBefore, nonce, ...rest] = call.args
    const signature = rest.length === 1 ? rest[0] : concat([rest[1], rest[2], numberToHex(rest[0], { size: 1 })])
    return { from, to, value, validAfter, validBefore, nonce, signature }
  }
}

const permit2: AuthorizationForm = {
  read: (payload) => {
    const { permit2Authorization: signed, signature } = payload as {
      readonly permit2Authorization: {
        readonly from: Address
        readonly permitted: { readonly amount: string }
        readonly nonce: string
        readonly deadline: string
        readonly witness: { readonly to: Address; readonly validAfter: string }
      }
      readonly signature: Hex
    }
    return {
      from: signed.from,
      to: signed.witness.to,
      value: BigInt(signed.permitted.amount),
      validAfter: BigInt(signed.witness.validAfter),
      validBefore: BigInt(signed.deadline),
      nonce: nonceOf(BigInt(signed.nonce)),
      signature
    }
  },
  write: ({ from, nonce, signature, to, validAfter, validBefore, value }, asset) => ({
    signature,
    permit2Authorization: {
      from,
      permitted: { token: asset, amount: String(value) },
      spender: permit2ProxyAddress,
      nonce: String(BigInt(nonce)),
      deadline: String(validBefore),
      witness: { to, validAfter: String(validAfter) }
    }
  }),
  call: ({ from, nonce, permit, signature, to, validAfter, validBefore, value }, asset) => {
    const args = [
      { permitted: { token: asset, amount: value }, nonce: BigInt(nonce), deadline: validBefore },
      from,
      { to, validAfter },
      signature
    ] as const
    const abi = x402ExactPermit2ProxyABI
    return {
      to: permit2ProxyAddress,
      data:
        permit === undefined
          ? encodeFunctionData({ abi, functionName: "settle", args })
          : encodeFunctionData({ abi, functionName: "settleWithPermit", args: [permit, ...args] })
    }
  },
  decode: (data) => {
    const call = undefinedIfFails(() => decodeFunctionData({ abi: x402ExactPermit2ProxyABI, data }))
    if (call?.functionName !== "settle" && call?.functionName !== "settleWithPermit") return undefined
    const [permit, ...rest] = call.functionName === "settle" ? [undefined, ...call.args] : call.args
    const [{ deadline, nonce, permitted }, from, { to, validAfter }, signature] = rest
    const signed = { from, to, value: permitted.amount, validAfter, validBefore: deadline, signature }
    return { ...signed, nonce: nonceOf(nonce), ...(permit && { permit }) }
  }
}

export const AUTHORIZATION_FORMS: Readonly<Record<TransferMethod, AuthorizationForm>> = { eip3009, permit2 }

/** Reads the allowance that comes with a payment. */
export const permitIn = (extensions: PaymentPayload["extensions"]): SignedPermit | undefined => {
  const { info } = (extensions?.["eip2612GasSponsoring"] ?? {}) as { readonly info?: Partial<Eip2612GasSponsoringInfo> }
  if (info?.signature === undefined) return undefined
  const { r, s, v } = parseSignature(info.signature as Hex)
  return { value: BigInt(info.amount!), deadline: BigInt(info.deadline!), r, s, v: Number(v) }
}

/** Reads the authorization in the payload of a payment. */
export const authorizationIn = (payload: Readonly<Record<string, unknown>>): SignedAuthorization =>
  AUTHORIZATION_FORMS["permit2Authorization" in payload ? "permit2" : "eip3009"].read(payload)

/** The call that uses the allowance of a payment alone, as anyone can send it. */
export const allowing = ({ from, permit }: Pick<SignedAuthorization, "from" | "permit">, asset: Address): Call => {
  if (permit === undefined) throw new Error(`the payment of ${from} brings no allowance`)
  const { deadline, r, s, v, value } = permit
  const abi = parseAbi(["function permit(address, address, uint256, uint256, uint8, bytes32, bytes32)"])
  return { to: asset, data: encodeFunctionData({ abi, args: [from, permit2Address, value, deadline, v, r, s] }) }
}

/** The call by which a payer uses up a nonce of Permit2 without a transfer. */
export const invalidation = (nonce: Hex): Call => ({
  to: permit2Address,
  data: encodeFunctionData({
    abi: parseAbi(["function invalidateUnorderedNonces(uint256 word, uint256 mask)"]),
    args: [BigInt(nonce) >> 8n, 1n << (BigInt(nonce) & 0xffn)]
  })
})
