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

/** Returns the fields of a type of typed data from their declarations, for example `address from, uint256 value`. */
export const fieldsOf = (declarations: string): TypedData["types"][string] =>
  declarations.split(", ").map((field) => {
    const [type = "", name = ""] = field.split(" ")
    return { name, type }
  })

/** Returns the domain of a token's own typed data, as `extra` names it. */
export const tokenDomainOf = ({ asset, chainId, extra }: Authorization): TypedData["domain"] => ({
  name: String(extra["name"]),
  version: String(extra["version"]),
  chainId,
  verifyingContract: asset
})

/** The typed data to sign, and the payload of x402 without its signature. */
export interface AuthorizedPayment {
  readonly typedData: TypedData
  readonly payload: Readonly<Record<string, unknown>>
}
