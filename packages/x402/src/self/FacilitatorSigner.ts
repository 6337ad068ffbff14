import { ProviderError } from "@agentos/core"
import { DEPLOYMENT_GAS_MAX, TRANSFER_GAS_MAX } from "../network/SimulatedCall.ts"
import { isOutage } from "../chain/RpcTransport.ts"
import type { FacilitatorEvmSigner } from "@x402/evm"
import { Effect } from "effect"
import {
  type Abi,
  type Address,
  encodeFunctionData,
  type Hex,
  type ReadContractParameters,
  type TransactionReceipt,
  type VerifyTypedDataParameters
} from "viem"
import { type DecodedPayment, deploymentReferenceOf, referenceOf } from "./DecodedPayment.ts"
import type { GasAccount } from "./GasAccount.ts"
import type { GasChain } from "./GasChain.ts"
import { type GasSpender, SimulationFailed } from "./GasSpender.ts"
import type { GasTransaction } from "./GasTransactionStore.ts"

/** The result of one call of `@x402/evm`, whose own result does not distinguish "no" from "could not be determined". */
export interface Attempt {
  readonly reference: string
  /** True once the store was asked to open a transaction, which any server may then send. */
  opened: boolean
  /** Hash of the transaction once a block contains it. */
  mined: Hex | undefined
  /** True if that transaction failed. */
  reverted: boolean
  /** True if a request to the chain failed. */
  outage: boolean
  /** Why nothing was sent, if the reason is not the chain's answer about the payment. */
  failure: ProviderError | undefined
}

export const newAttempt = (payment: DecodedPayment): Attempt => ({
  reference: referenceOf(payment),
  opened: false,
  mined: undefined,
  reverted: false,
  outage: false,
  failure: undefined
})

export interface SignerParts {
  readonly account: GasAccount
  readonly chain: GasChain
  readonly spender: GasSpender
  readonly attempt: Attempt
  /** Factories that may deploy the smart account of a payer, in lower case. */
  readonly factories: ReadonlyArray<Address>
  readonly run: <A>(effect: Effect.Effect<A, unknown>) => Promise<A>
  readonly awaitMined: (transaction: GasTransaction) => Effect.Effect<TransactionReceipt>
}

/** A simulated transfer comes after the deployment of the payer's smart account. */
const CALL_GAS_MAX = TRANSFER_GAS_MAX + DEPLOYMENT_GAS_MAX

/** Makes the signer through which `@x402/evm` uses the chain for one call; it records what happens in the attempt. */
export const makeSigner = ({
  account,
  attempt,
  awaitMined,
  chain,
  factories,
  run,
  spender
}: SignerParts): FacilitatorEvmSigner => {
  const { client } = chain
  const sent = new Map<string, { readonly transaction: GasTransaction; readonly isTransfer: boolean }>()
  const note = (error: unknown): void => {
    if (error instanceof ProviderError) attempt.failure ??= error
    else if (isOutage(error instanceof SimulationFailed ? error.cause : error)) attempt.outage = true
  }
  const watched = async <A>(call: Promise<A>): Promise<A> => {
    try {
      return await call
    } catch (error) {
      note(error)
      throw error
    }
  }

  const record = (transaction: GasTransaction, isTransfer: boolean): Hex => {
    const hash: Hex = `0x${transaction.versions.at(-1)?.hash.slice(2) ?? ""}`
    sent.set(hash, { transaction, isTransfer })
    return hash
  }

  return {
    getAddresses: () => [account.address],
    // The library does not always await this promise, so a rejection would end the process.
    getCode: (args) => watched(client.getCode(args)).catch(() => undefined),
    // A smart account's own code may run in each of these calls.
    readContract: ({ abi, ...args }) =>
      watched(client.readContract({ ...args, abi: abi as Abi, gas: CALL_GAS_MAX } as ReadContractParameters)),
    verifyTypedData: (args) => watched(client.verifyTypedData(args as VerifyTypedDataParameters)),
    writeContract: async ({ abi, address, args, functionName }) => {
      const data = encodeFunctionData({ abi: abi as Abi, functionName, args })
      const onOpen = Effect.sync(() => {
        attempt.opened = true
      })
      const call = { to: address, data, gasMax: TRANSFER_GAS_MAX }
      return record(await watched(run(spender.submit(attempt.reference, call, onOpen))), true)
    },
    // The library calls this only to deploy the payer's smart account, after it has simulated the deployment together
    // with the transfer. Payments that need the same deployment share its transaction.
    sendTransaction: async ({ data, to }) => {
      if (!factories.some((factory) => factory === to.toLowerCase())) {
        throw new Error("the gas wallet sends only transfers, and calls of accepted factories")
      }
      const call = { to, data, gasMax: DEPLOYMENT_GAS_MAX }
      return record(await watched(run(spender.submit(deploymentReferenceOf(to, data), call, Effect.void))), false)
    },
    waitForTransactionReceipt: async ({ hash }) => {
      const found = sent.get(hash)
      if (found === undefined) throw new Error("the transaction was not sent by this signer")
      const receipt = await run(awaitMined(found.transaction))
      if (found.isTransfer) {
        attempt.mined = receipt.transactionHash
        attempt.reverted = receipt.status === "reverted"
      }
      return receipt
    }
  }
}
