import { type GasTransaction, ProviderError } from "@agentos/core"
import type { FacilitatorEvmSigner } from "@x402/evm"
import { Effect } from "effect"
import { type Abi, encodeFunctionData, type Hex, type TransactionReceipt, type VerifyTypedDataParameters } from "viem"
import { type DecodedPayment, referenceOf } from "./DecodedPayment.ts"
import type { GasAccount } from "./GasAccount.ts"
import type { GasChain } from "./GasChain.ts"
import { type GasSpender, TrialRunFailed } from "./GasSpender.ts"
import { isOutage } from "./NodeFailure.ts"

/** What came of one question to `@x402/evm`, which makes no difference between "no" and "could not be asked". */
export interface Attempt {
  readonly reference: string
  /** The store was asked to open a transaction: it may be sent, by whomever. */
  opened: boolean
  /** The transaction that a block has. */
  mined: Hex | undefined
  /** The chain could not be asked for something. */
  outage: boolean
  /** Why nothing was sent, where that is not the chain's word on the payment. */
  failure: ProviderError | undefined
}

export const newAttempt = (payment: DecodedPayment): Attempt => ({
  reference: referenceOf(payment),
  opened: false,
  mined: undefined,
  outage: false,
  failure: undefined
})

/** What a signer is made of. */
export interface SignerParts {
  readonly account: GasAccount
  readonly chain: GasChain
  readonly spender: GasSpender
  readonly attempt: Attempt
  readonly run: <A>(effect: Effect.Effect<A, unknown>) => Promise<A>
  readonly awaitMined: (transaction: GasTransaction) => Effect.Effect<TransactionReceipt>
}

/** How `@x402/evm` reaches the chain for one question, and what it is told there is written into the attempt. */
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
    else if (isOutage(error instanceof TrialRunFailed ? error.cause : error)) attempt.outage = true
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
    // The library starts this one without always awaiting it, so a rejection would end the process.
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
    // The library deploys the contract wallets of payers by this. Such payers are not served.
    sendTransaction: () => Promise.reject(new Error("nothing but transfers is sent from the gas wallet")),
    waitForTransactionReceipt: async ({ hash }) => {
      const transaction = sent.get(hash)
      if (transaction === undefined) throw new Error("a transaction that was not sent here")
      const receipt = await run(awaitMined(transaction))
      attempt.mined = receipt.transactionHash
      return receipt
    }
  }
}
