import { type ChainDescription, permit2Address, permit2ProxyAddress, sandboxUsdtAbi } from "@agentos/sandbox"
import { x402ExactPermit2ProxyABI } from "@x402/evm"
import { type Address, concat, decodeFunctionData, encodeFunctionData, type Hex, numberToHex, parseAbi } from "viem"

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
}

export type TransferMethod = ChainDescription["transferMethod"]

/** Every transfer method, for suites that run by each. */
export const TRANSFER_METHODS: ReadonlyArray<TransferMethod> = ["eip3009", "permit2"]

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
  call: ({ from, nonce, signature, to, validAfter, validBefore, value }, asset) => ({
    to: permit2ProxyAddress,
    data: encodeFunctionData({
      abi: x402ExactPermit2ProxyABI,
      functionName: "settle",
      args: [
        { permitted: { token: asset, amount: value }, nonce: BigInt(nonce), deadline: validBefore },
        from,
        { to, validAfter },
        signature
      ]
    })
  }),
  decode: (data) => {
    const call = undefinedIfFails(() => decodeFunctionData({ abi: x402ExactPermit2ProxyABI, data }))
    if (call?.functionName !== "settle") return undefined
    const [{ deadline, nonce, permitted }, from, { to, validAfter }, signature] = call.args
    return { from, to, value: permitted.amount, validAfter, validBefore: deadline, nonce: nonceOf(nonce), signature }
  }
}

export const AUTHORIZATION_FORMS: Readonly<Record<TransferMethod, AuthorizationForm>> = { eip3009, permit2 }

/** Reads the authorization in the payload of a payment. */
export const authorizationIn = (payload: Readonly<Record<string, unknown>>): SignedAuthorization =>
  AUTHORIZATION_FORMS["permit2Authorization" in payload ? "permit2" : "eip3009"].read(payload)

/** The call by which a payer uses up a nonce of Permit2 without a transfer. */
export const invalidation = (nonce: Hex): Call => ({
  to: permit2Address,
  data: encodeFunctionData({
    abi: parseAbi(["function invalidateUnorderedNonces(uint256 word, uint256 mask)"]),
    args: [BigInt(nonce) >> 8n, 1n << (BigInt(nonce) & 0xffn)]
  })
})
