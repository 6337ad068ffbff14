import type { OfferedNetwork } from "../network/PaymentNetwork.ts"
import { Effect, Redacted } from "effect"
import {
  type Address,
  type Hex,
  keccak256,
  parseGwei,
  parseTransaction,
  type TransactionSerializableEIP1559,
  type TransactionSerializedEIP1559
} from "viem"
import { privateKeyToAccount } from "viem/accounts"
import type { GasPrice } from "./GasPrice.ts"
import type { GasWallet, SignedTransaction } from "./GasTransactionStore.ts"
import type { SelfFacilitatorConfig } from "./SelfFacilitatorConfig.ts"

const DEFAULT_MAX_FEE_GWEI = 100
const DEFAULT_REPRICE_AFTER_MILLIS = 15_000

/** A transaction without its account nonce and price. */
export interface GasCall {
  readonly to: Address
  readonly data: Hex
  readonly gas: bigint
}

/** A wallet that pays for gas, with its key. */
export interface GasAccount {
  readonly address: Address
  /** The wallet's key in the store. */
  readonly wallet: GasWallet
  /** Highest price of a unit of gas, in wei. */
  readonly ceiling: bigint
  /** Price of a unit of gas, in wei, up to which the network is offered. */
  readonly saleCeiling: bigint
  readonly repriceAfterMillis: number
  /** Signs a transaction without any request to the chain. */
  readonly sign: (call: GasCall, accountNonce: number, price: GasPrice) => Effect.Effect<SignedTransaction>
  readonly signAgain: (version: SignedTransaction, price: GasPrice) => Effect.Effect<SignedTransaction>
}

/** Makes the gas wallet of a network's configuration. */
export const make = (offered: OfferedNetwork, config: SelfFacilitatorConfig): GasAccount => {
  const account = privateKeyToAccount(Redacted.value(config.privateKey))
  const signed = (transaction: TransactionSerializableEIP1559) =>
    Effect.map(
      Effect.promise(() => account.signTransaction(transaction)),
      (bytes) => ({ hash: keccak256(bytes), bytes })
    )
  const ceilingGwei = config.maxFeePerGasGwei ?? DEFAULT_MAX_FEE_GWEI
  return {
    address: account.address,
    wallet: { network: offered.network, address: account.address.toLowerCase() },
    ceiling: parseGwei(ceilingGwei.toFixed(9)),
    saleCeiling: parseGwei((config.sellBelowGasGwei ?? ceilingGwei).toFixed(9)),
    repriceAfterMillis: config.repriceAfterMillis ?? DEFAULT_REPRICE_AFTER_MILLIS,
    sign: (call, nonce, price) =>
      signed({ type: "eip1559", chainId: Number(offered.chainId), nonce, value: 0n, ...call, ...price }),
    signAgain: (version, price) => signed({ ...transactionIn(version), ...price })
  }
}

/** Decodes a signed transaction, without its signature. */
const transactionIn = ({ bytes }: SignedTransaction): TransactionSerializableEIP1559 => {
  const { chainId, data, gas, nonce, to, value } = parseTransaction(serialized(bytes))
  if (chainId === undefined || to === undefined || data === undefined || gas === undefined || nonce === undefined) {
    throw new Error("the stored bytes are not a transaction that the gas wallet signed")
  }
  return { type: "eip1559", chainId, nonce, value: value ?? 0n, to, data, gas }
}

/** Returns the price at which a stored transaction was signed. */
export const priceIn = ({ bytes }: SignedTransaction): GasPrice => {
  const { maxFeePerGas = 0n, maxPriorityFeePerGas = 0n } = parseTransaction(serialized(bytes))
  return { maxFeePerGas, maxPriorityFeePerGas }
}

/** The wallet signs only type 2 of EIP-2718. */
const serialized = (bytes: string): TransactionSerializedEIP1559 => `0x02${bytes.slice(4)}`

/** Converts hexadecimal text of the store to viem's type. */
export const hex = (text: string): Hex => `0x${text.slice(2)}`
