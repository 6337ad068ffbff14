import { Option } from "effect"
import { type Hex, toEventSelector } from "viem"

export const TRANSFER = toEventSelector("Transfer(address,address,uint256)")

/** A transfer of the token. Addresses are in lower case. */
export interface TokenTransfer {
  readonly from: string
  readonly to: string
  /** Base units of the token. */
  readonly value: bigint
}

/** The fields of a contract's log that are read. */
export interface ContractLog {
  readonly address: string
  readonly topics: ReadonlyArray<Hex>
  readonly data: Hex
}

/** The fields of a transaction's receipt that are read. */
export interface TransactionLog {
  readonly transactionHash: Hex
  readonly blockNumber: bigint
  readonly logs: ReadonlyArray<ContractLog & { readonly logIndex: number }>
}

/** Decodes a log as a transfer, if it is one. */
export const transferIn = ({ data, topics: [event, from, to] }: ContractLog): Option.Option<TokenTransfer> =>
  event === TRANSFER && from !== undefined && to !== undefined && data.length === 66
    ? Option.some({ from: addressIn(from), to: addressIn(to), value: BigInt(data) })
    : Option.none()

const addressIn = (topic: Hex): string => `0x${topic.slice(-40).toLowerCase()}`
