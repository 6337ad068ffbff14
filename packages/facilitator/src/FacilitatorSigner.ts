import { ProviderError } from "@agentos/core"
import { isOutage } from "@agentos/x402/facilitator"
import type { FacilitatorEvmSigner } from "@x402/evm"
import { Effect } from "effect"
import { type Abi, encodeFunctionData, type Hex, type TransactionReceipt, type VerifyTypedDataParameters } from "viem"
import { type DecodedPayment, referenceOf } from "./DecodedPayment.ts"
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
  /** True if a request to the chain failed. */
  outage: boolean
  /** Why nothing was sent, if the reason is not the chain's answer about the payment. */
  failure: ProviderError | undefined
}

export const newAttempt = (payment: DecodedPayment): Attempt => ({
  reference: referenceOf(payment),
  opened: false,
  mined: undefined,
  outage: false,
  failure: undefined
})

export interface SignerParts {
  readonly account: GasAccount
  readonly chain: GasChain
  readonly spender: GasSpender
  readonly attempt: Attempt
  readonly run: <A>(effect: Effect.Effect<A, unknown>) => Promise<A>
  readonly awaitMined: (transaction: GasTransaction) => Effect.Effect<TransactionReceipt>
}

/** Makes the signer through which `@x402/evm` uses the chain for one call; it records what happens in the attempt. */
export const makeSigner = ({
  account,
  attempt,
  awaitMined,
  chain,
  run,
  spender
}: SignerParts): FacilitatorEvmSigner => {
  const { client } = chain
  const sent = new Map<string, GasTransaction>()
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

  return {
    getAddresses: () => [account.address],
    // The library does not always await this promise, so a rejection would end the process.
    getCode: (args) => watched(client.getCode(args)).catch(() => undefined),
    readContract: ({ abi, ...args }) => watched(client.readContract({ ...args, abi: abi as Abi })),
    verifyTypedData: (args) => watched(client.verifyTypedData(args as VerifyTypedDataParameters)),
    writeContract: async ({ abi, address, args, functionName }) => {
      const data = encodeFunctionData({ abi: abi as Abi, functionName, args })
      const onOpen = Effect.sync(() => {
        attempt.opened = true
      })
      const transaction = await watched(run(spender.submit(attempt.reference, { to: address, data }, onOpen)))
      const hash: Hex = `0x${transaction.versions.at(-1)?.hash.slice(2) ?? ""}`
      sent.set(hash, transaction)
      return hash
    },
    // The library uses this to deploy the contract wallets of payers, which are not supported.
    sendTransaction: () => Promise.reject(new Error("the gas wallet sends only transfers")),
    waitForTransactionReceipt: async ({ hash }) => {
      const transaction = sent.get(hash)
      if (transaction === undefined) throw new Error("the transaction was not sent by this signer")
      const receipt = await run(awaitMined(transaction))
      attempt.mined = receipt.transactionHash
      return receipt
    }
  }
}
