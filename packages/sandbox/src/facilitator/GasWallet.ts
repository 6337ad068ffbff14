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

/** The interface through which @x402/evm uses the chain. */
export type FacilitatorSigner = ReturnType<typeof toFacilitatorEvmSigner>

/** The account that pays the gas of settlements. */
export type GasWallet = ReturnType<typeof makeGasWallet>

export interface GasWalletOptions {
  readonly rpcUrl: string
  readonly chainId: number
  readonly privateKey: Hex
}

/** Short, because the chain runs on this machine. */
const rpcTimeoutMillis = 5_000
/** Blocks are mined at once. After this time a settlement is reported as pending, with its transaction. */
const confirmationTimeoutMillis = 10_000

/** Creates a wallet that sends concurrent transactions one after another, so that each has its own nonce. */
export const makeGasWallet = (options: GasWalletOptions) => {
  const account = privateKeyToAccount(options.privateKey)
  const client = createWalletClient({
    account,
    chain: sandboxChain(options.rpcUrl, options.chainId),
    transport: http(options.rpcUrl, { retryCount: 0, timeout: rpcTimeoutMillis }),
    pollingInterval: 20,
    cacheTime: 0
  }).extend(publicActions)

  // The nonce is read from the chain for each transaction, under a lock that is held until the chain has accepted the
  // transaction. A local counter would be wrong after a restart of the chain or a failed gas estimate.
  const broadcast = (send: (nonce: number) => Promise<Hex>) =>
    broadcasts.run(`${options.rpcUrl} ${account.address}`, async () =>
      send(await client.getTransactionCount({ address: account.address, blockTag: "pending" }))
    )

  return {
    address: account.address,
    /** Sends an amount of gas, in wei, and resolves with the hash of the transaction. */
    send: (to: Address, value: bigint) => broadcast((nonce) => client.sendTransaction({ to, value, nonce })),
    /** Creates a signer that also reports outages of the chain, which the library treats as failed payments. */
    signer: (onOutage: (error: unknown) => void): FacilitatorSigner => {
      const observed = async <A>(call: Promise<A>): Promise<A> => {
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
          // The library does not always await this call, so a rejection would end the process.
          getCode: (args) => observed(client.getCode(args)).catch(() => undefined),
          readContract: ({ abi, ...args }) => observed(client.readContract({ ...args, abi: abi as Abi })),
          verifyTypedData: (args) => observed(client.verifyTypedData(args as VerifyTypedDataParameters)),
          writeContract: ({ abi, ...args }) =>
            observed(broadcast((nonce) => client.writeContract({ ...args, abi: abi as Abi, nonce }))),
          sendTransaction: (args) => observed(broadcast((nonce) => client.sendTransaction({ ...args, nonce }))),
          waitForTransactionReceipt: (args) => client.waitForTransactionReceipt(args)
        },
        { confirmationTimeoutMs: confirmationTimeoutMillis }
      )
    },
    /** Returns the latest block number. Rejects if the chain is unavailable or has another chain id. */
    blockNumber: async (): Promise<bigint> => {
      const [chainId, blockNumber] = await Promise.all([client.getChainId(), client.getBlockNumber()])
      if (chainId !== options.chainId) throw new Error(`The chain id is ${chainId}, expected ${options.chainId}`)
      return blockNumber
    }
  }
}

/** Distinguishes a chain that did not answer from one that returned an error. */
const isOutage = (error: unknown): boolean =>
  error instanceof BaseError &&
  error.walk((cause) => cause instanceof HttpRequestError || cause instanceof TimeoutError) !== null

/**
 * Creates a queue that runs the tasks of one key in sequence, in arrival order, and the tasks of different keys concurrently.
 * It drops a key once its last task has ended.
 */
export const makeSerialQueue = () => {
  const last = new Map<string, Promise<unknown>>()
  return {
    /** Returns the task's result. A failed task does not stop the next one. */
    run: async <A>(key: string, task: () => Promise<A>): Promise<A> => {
      const previous = last.get(key)
      const result = previous === undefined ? task() : previous.then(task, task)
      last.set(key, result)
      try {
        return await result
      } finally {
        if (last.get(key) === result) last.delete(key)
      }
    }
  }
}

/** Of all wallets in this process: those of two tokens on one chain are one account. */
const broadcasts = makeSerialQueue()
