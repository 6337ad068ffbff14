import { toFacilitatorEvmSigner } from "@x402/evm"
import {
  type Abi,
  type Address,
  BaseError,
  type Hex,
  HttpRequestError,
  TimeoutError,
  type VerifyTypedDataParameters,
  createWalletClient,
  http,
  publicActions
} from "viem"
import { privateKeyToAccount } from "viem/accounts"
import { sandboxChain } from "../chain/SandboxNetwork.ts"
import { makeSerialQueue } from "./SerialQueue.ts"

/** How @x402/evm reaches the chain. */
export type FacilitatorSigner = ReturnType<typeof toFacilitatorEvmSigner>

/** The account that pays for the gas of settlements. */
export interface GasWallet {
  readonly address: Address
  /** A signer that also tells its user when the chain could not be reached, which the library takes for an answer. */
  readonly signer: (onOutage: (error: unknown) => void) => FacilitatorSigner
  /** Proves that the chain is there and is the right one; answers its height. */
  readonly reach: () => Promise<bigint>
}

export interface GasWalletOptions {
  readonly rpcUrl: string
  readonly chainId: number
  readonly privateKey: Hex
}

/** The chain is on this machine. What takes longer than this won't come. */
const rpcTimeoutMillis = 5_000
/** A block comes at once. Past this, a settlement is reported as pending, with its transaction. */
const confirmationTimeoutMillis = 10_000

/** A wallet whose transactions may be asked for side by side: they get their nonces one after the other. */
export const makeGasWallet = (options: GasWalletOptions): GasWallet => {
  const account = privateKeyToAccount(options.privateKey)
  const client = createWalletClient({
    account,
    chain: { ...sandboxChain(options.rpcUrl), id: options.chainId },
    transport: http(options.rpcUrl, { retryCount: 0, timeout: rpcTimeoutMillis }),
    pollingInterval: 20,
    cacheTime: 0
  }).extend(publicActions)

  // A nonce is asked of the chain for each transaction, under a lock that lasts until the chain has the transaction.
  // A manager that counts by itself would lose step with a chain that was restarted, or after a failed estimate.
  const broadcasts = makeSerialQueue()
  const broadcast = (send: (nonce: number) => Promise<Hex>) =>
    broadcasts.run("", async () =>
      send(await client.getTransactionCount({ address: account.address, blockTag: "pending" }))
    )

  return {
    address: account.address,
    signer: (onOutage) => {
      const watched = async <A>(call: Promise<A>): Promise<A> => {
        try {
          return await call
        } catch (error) {
          if (isOutage(error)) onOutage(error)
          throw error
        }
      }
      return toFacilitatorEvmSigner(
        {
          address: account.address,
          // The library starts this one without always awaiting it, so a rejection would end the process.
          getCode: (args) => watched(client.getCode(args)).catch(() => undefined),
          readContract: ({ abi, ...args }) => watched(client.readContract({ ...args, abi: abi as Abi })),
          verifyTypedData: (args) => watched(client.verifyTypedData(args as VerifyTypedDataParameters)),
          writeContract: ({ abi, ...args }) =>
            watched(broadcast((nonce) => client.writeContract({ ...args, abi: abi as Abi, nonce }))),
          sendTransaction: (args) => watched(broadcast((nonce) => client.sendTransaction({ ...args, nonce }))),
          waitForTransactionReceipt: (args) => client.waitForTransactionReceipt(args)
        },
        { confirmationTimeoutMs: confirmationTimeoutMillis }
      )
    },
    reach: async () => {
      const [chainId, blockNumber] = await Promise.all([client.getChainId(), client.getBlockNumber()])
      if (chainId !== options.chainId) throw new Error(`The chain is ${chainId}, not ${options.chainId}`)
      return blockNumber
    }
  }
}

/** Whether an error says that the chain could not be asked, and not that it answered no. */
const isOutage = (error: unknown): boolean =>
  error instanceof BaseError &&
  error.walk((cause) => cause instanceof HttpRequestError || cause instanceof TimeoutError) !== null
