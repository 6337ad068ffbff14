import { Option } from "effect"
import { type Hex, pad, toEventSelector } from "viem"

/** The events of a token by which payments are known: EIP-3009, and Transfer of ERC-20. */
export const AUTHORIZATION_USED = toEventSelector("AuthorizationUsed(address,bytes32)")
export const AUTHORIZATION_CANCELED = toEventSelector("AuthorizationCanceled(address,bytes32)")
export const TRANSFER = toEventSelector("Transfer(address,address,uint256)")

/** A transfer of the token. Addresses in lower case. */
export interface TokenTransfer {
  readonly from: string
  readonly to: string
  /** Base units. */
  readonly value: bigint
}

/** What a token's log says of the use of an authorization's nonce. */
export interface AuthorizationUse {
  readonly nonce: Hex
  readonly transaction: string
  readonly block: bigint
  /** The nonce was given up by AuthorizationCanceled, and moved nothing. */
  readonly cancelled: boolean
  /** The Transfer that directly follows in the token's own log. */
  readonly transfer: Option.Option<TokenTransfer>
}

/** A log of a contract, as far as it is read. */
export interface ContractLog {
  readonly address: string
  readonly topics: ReadonlyArray<Hex>
  readonly data: Hex
}

interface Receipt {
  readonly transactionHash: Hex
  readonly blockNumber: bigint
  readonly logs: ReadonlyArray<ContractLog & { readonly logIndex: number }>
}

/** Every use of an authorization of the payer's in a transaction, in the order of the log. The payer is in lower case. */
export const usesIn = (receipt: Receipt, asset: string, payer: Hex): ReadonlyArray<AuthorizationUse> => {
  const own = receipt.logs.filter((log) => log.address.toLowerCase() === asset.toLowerCase())
  return own.flatMap(({ logIndex, topics: [event, authorizer, nonce] }) => {
    const isUse = event === AUTHORIZATION_USED || event === AUTHORIZATION_CANCELED
    if (!isUse || authorizer !== pad(payer) || nonce === undefined) return []
    const next = own.find((log) => log.logIndex === logIndex + 1)
    return [
      {
        nonce,
        transaction: receipt.transactionHash,
        block: receipt.blockNumber,
        cancelled: event === AUTHORIZATION_CANCELED,
        transfer: next === undefined ? Option.none() : transferIn(next)
      }
    ]
  })
}

/** The transfer that a log tells of, if it is one. */
export const transferIn = ({ data, topics: [event, from, to] }: ContractLog): Option.Option<TokenTransfer> =>
  event === TRANSFER && from !== undefined && to !== undefined && data.length === 66
    ? Option.some({ from: addressIn(from), to: addressIn(to), value: BigInt(data) })
    : Option.none()

/** The address in a topic of 32 bytes. */
const addressIn = (topic: Hex): string => `0x${topic.slice(-40).toLowerCase()}`
