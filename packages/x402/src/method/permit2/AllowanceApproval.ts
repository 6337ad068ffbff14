import type { ProviderError } from "@agentos/core"
import { Effect } from "effect"
import {
  concat,
  encodeFunctionData,
  type Hex,
  keccak256,
  numberToHex,
  parseAbi,
  parseTransaction,
  serializeTransaction,
  type TransactionSerializableEIP1559
} from "viem"
import { getGasPrice, getTransactionCount } from "viem/actions"
import type { EvmChain } from "../../chain/EvmChain.ts"
import type { AllowanceApproval } from "../../header/GasSponsoring.ts"
import { type AuthorizedTransfer, hexOf } from "../../network/AuthorizedTransfer.ts"
import { PERMIT2 } from "../../network/Permit2Address.ts"
import { misconfigured, type OfferedNetwork } from "../../network/PaymentNetwork.ts"
import type { Signer } from "../../network/Signer.ts"
import { MULTICALL3 } from "../../network/SimulatedCall.ts"

/*
 * The transaction with which a payer allows Permit2 to move its tokens, signed and not sent. A facilitator sends it, and may first
 * send the payer the coins that it costs at most.
 */

const abi = parseAbi(["function approve(address spender, uint256 amount)"])

/** Returns the data of the call that allows Permit2 an amount of base units. */
export const approvalData = (amount: bigint): Hex =>
  encodeFunctionData({ abi, functionName: "approve", args: [PERMIT2, amount] })

/** @x402/evm 2.27.0 signs a limit of 70,000. */
const GAS_MAX = 100_000n
/** The highest price of gas is this multiple of the chain's, or that which @x402/evm 2.27.0 offers without asking the chain. */
const PRICE_FACTOR = 4n
const UNASKED_PRICE = 1_000_000_000n

const WHAT = "The approval transaction that comes with the payment"

type Parts = { readonly chain: EvmChain; readonly offered: OfferedNetwork; readonly signer: Signer }

/**
 * Returns why a transaction would not allow Permit2 the amount of a payment, or could cost more than such a transaction does; undefined
 * if all is well. The node learns the payer's address alone.
 */
export const findFlaw = Effect.fnUntraced(function* (
  { chain, offered, signer }: Parts,
  approval: AllowanceApproval,
  { from, value }: Pick<AuthorizedTransfer, "from" | "value">
): Effect.fn.Return<string | undefined, ProviderError> {
  const transaction = parse(hexOf(approval.transaction))
  if (transaction === undefined) return `${WHAT} must be a signed one of type 2 (EIP-1559), in its canonical form.`
  const { accessList = [], chainId, data, gas = 0n, maxFeePerGas = 0n, to } = transaction
  if (BigInt(chainId) !== offered.chainId) return `${WHAT} is for chain ${chainId}, not ${offered.chainId}.`
  if (to?.toLowerCase() !== offered.asset.toLowerCase()) return `${WHAT} must be sent to the token, ${offered.asset}.`
  if ((transaction.value ?? 0n) !== 0n || accessList.length > 0) return `${WHAT} must have no value and no access list.`
  if (data !== approvalData(approval.amount) || approval.amount < value) {
    return `${WHAT} must call approve with Permit2, ${PERMIT2}, and the stated amount, which must be at least the price.`
  }
  if (signerOf(signer, transaction) !== from) return `${WHAT} is not signed by the payer.`
  if (gas > GAS_MAX) return `${WHAT} has a gas limit of ${gas}, and at most ${GAS_MAX} are accepted.`
  const [nonce, price, hasCode] = yield* Effect.all(
    [
      chain.ask((client) => getTransactionCount(client, { address: from, blockTag: "latest" })),
      chain.ask((client) => getGasPrice(client)),
      chain.hasCode(from)
    ],
    { concurrency: 3 }
  )
  const dearest = price * PRICE_FACTOR > UNASKED_PRICE ? price * PRICE_FACTOR : UNASKED_PRICE
  if (maxFeePerGas > dearest) {
    return `${WHAT} offers ${maxFeePerGas} wei for a unit of gas, and at most ${dearest} are accepted now.`
  }
  if ((transaction.nonce ?? 0) !== nonce) {
    return `${WHAT} has the nonce ${transaction.nonce ?? 0}, and the next one of the wallet is ${nonce}. Sign another one.`
  }
  // The simulation replaces its code, and Permit2 asks it for the signature.
  return hasCode ? `${WHAT} must be of a wallet without code.` : undefined
})

type Signed = TransactionSerializableEIP1559 & { readonly r: Hex; readonly s: Hex; readonly yParity: number }

/** Decodes a signed transaction that has no other encoding; undefined if it is another one. */
const parse = (bytes: Hex): Signed | undefined => {
  try {
    const transaction = parseTransaction(bytes)
    if (transaction.type !== "eip1559" || serializeTransaction(transaction) !== bytes) return undefined
    const { r, s, yParity } = transaction
    return r === undefined || s === undefined || yParity === undefined ? undefined : { ...transaction, r, s, yParity }
  } catch {
    return undefined
  }
}

const signerOf = (signer: Signer, { r, s, yParity, ...unsigned }: Signed): string | undefined => {
  const { v: _v, ...transaction } = unsigned as typeof unsigned & { readonly v?: unknown }
  return signer.recoverSigner(
    keccak256(serializeTransaction(transaction)),
    concat([r, s, numberToHex(27 + yParity, { size: 1 })])
  )
}

const MAGIC = "1626ba7e"

/**
 * Code of an account that makes the calls of Multicall3 as itself, and accepts every signature (ERC-1271). With it, an `eth_call`
 * simulates the approval of a payer before the transfer; the payer's signature of the transfer was checked before.
 */
export const ACTS_AS_PAYER: Hex = `0x${[
  // Is the call isValidSignature?
  `60003560e01c63${MAGIC}14604557`,
  // Delegates it to Multicall3 otherwise, with its answer or failure.
  `3660006000376000600036600073${MULTICALL3.slice(2)}5af43d600060003e604057`,
  "3d6000fd",
  "5b3d6000f3",
  `5b63${MAGIC}60e01b60005260206000f3`
].join("")}`

/** Checks that the node simulates with code in place of an account's own. */
export const check = ({ config, payTo }: OfferedNetwork, chain: EvmChain): Effect.Effect<void, ProviderError> =>
  chain.simulate({ to: payTo, data: `0x${MAGIC}`, gas: 100_000n, code: ACTS_AS_PAYER }).pipe(
    Effect.filterOrFail(
      (outcome) => outcome.succeeded && outcome.data.startsWith(`0x${MAGIC}`),
      () =>
        misconfigured(
          `Payment network ${config.network}: gasSponsoring erc20Approval requires a node that overrides state in eth_call, and rpcUrl leads to one that does not.`
        )
    ),
    Effect.asVoid
  )
