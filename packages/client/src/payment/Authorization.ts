import type { TypedData } from "./Account.ts"
import type { Json } from "../Encoding.ts"

/** A transfer to authorize. */
export interface Authorization {
  readonly payer: `0x${string}`
  /** In lower case, as is the token: wallets refuse a wrong checksum. */
  readonly payTo: `0x${string}`
  readonly asset: `0x${string}`
  readonly chainId: number
  /** Base units of the token. */
  readonly value: bigint
  readonly nonce: `0x${string}`
  /** Unix seconds. */
  readonly validBefore: number
  readonly extra: Json
}

/** The typed data to sign, and the payload of x402 without its signature. */
export interface AuthorizedPayment {
  readonly typedData: TypedData
  readonly payload: Readonly<Record<string, unknown>>
}
