import { Option } from "effect"
import { type Hex, pad, toEventSelector } from "viem"

/** The events of a token that identify payments: EIP-3009, and Transfer of ERC-20. */
export const AUTHORIZATION_USED = toEventSelector("AuthorizationUsed(address,bytes32)")
export const AUTHORIZATION_CANCELED = toEventSelector("AuthorizationCanceled(address,bytes32)")
export const TRANSFER = toEventSelector("Transfer(address,address,uint256)")

/** A transfer of the token. Addresses are in lower case. */
export interface TokenTransfer {
  readonly from: string
  readonly to: string
  /** Base units of the token. */
  readonly value: bigint
}

/** The use of an authorization's nonce according to the token's log. */
export interface AuthorizationUse {
  readonly nonce: Hex
  readonly transaction: string
  readonly block: bigint
  /** True if AuthorizationCanceled used up the nonce without a transfer. */
  readonly cancelled: boolean
  /** The Transfer event that directly follows in the token's own log. */
  readonly transfer: Option.Option<TokenTransfer>
}

/** The fields of a contract's log that are read. */
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

/**
 * Returns every use of the payer's authorizations in a transaction, in the order of the log. The payer is given
 * in lower case.
 */
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

/** Decodes a log as a transfer, if it is one. */
export const transferIn = ({ data, topics: [event, from, to] }: ContractLog): Option.Option<TokenTransfer> =>
  event === TRANSFER && from !== undefined && to !== undefined && data.length === 66
    ? Option.some({ from: addressIn(from), to: addressIn(to), value: BigInt(data) })
    : Option.none()

/** Returns the address in a topic of 32 bytes. */
const addressIn = (topic: Hex): string => `0x${topic.slice(-40).toLowerCase()}`
