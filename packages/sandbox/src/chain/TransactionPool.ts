import {
  type Address,
  BaseError,
  createTestClient,
  formatTransaction,
  type Hex,
  http,
  HttpRequestError,
  type RpcTransaction,
  serializeTransaction,
  type Signature,
  TimeoutError,
  type TransactionSerializable
} from "viem"
import type { SandboxClient } from "./SandboxNetwork.ts"

/** The state that a call of `freeTransactions` leaves for the next one. */
export interface PoolMemory {
  /** Transactions that were taken out of the pool and not sent again yet, because the chain did not answer. */
  readonly unsent: Array<Hex>
  /** How many transactions of each account waited. */
  readonly waiting: Map<Address, number>
}

export const newPoolMemory = (): PoolMemory => ({ unsent: [], waiting: new Map() })

/**
 * Sends the transactions again that anvil will never mine by itself, and those that are unsent from before. Rejects if the
 * chain does not answer; transactions without an answer stay in `unsent`.
 *
 * If a transaction arrives in the moment in which the one before it is mined, anvil 1.7 can let it wait for that one:
 * once in 2,500 when an account sends sixteen at a time. All later ones of the account then wait too.
 *
 * Anvil can only remove all transactions of an account, and would lose one that arrives meanwhile. So those of an account
 * that has sent more since the last call are left for the next one: they wait until the account pauses.
 */
export const freeTransactions = async (client: SandboxClient, { unsent, waiting }: PoolMemory): Promise<void> => {
  await sendAll(client, unsent)
  const before = new Map(waiting)
  waiting.clear()
  if ((await client.getTxpoolStatus()).queued === 0) return
  const { queued } = await client.getTxpoolContent()
  for (const [address, transactions] of Object.entries(queued) as Array<[Address, (typeof queued)[Address]]>) {
    const next = await client.getTransactionCount({ address })
    if (transactions[next] === undefined) continue
    const count = Object.keys(transactions).length
    waiting.set(address, count)
    if (before.get(address) !== count) continue
    // The answer to the removal may be lost. Then these are sent from here.
    unsent.push(...serialized(transactions))
    const known = new Set(unsent)
    unsent.push(...(await takeTransactions(client, address)).filter((transaction) => !known.has(transaction)))
    await sendAll(client, unsent)
  }
}

/** Sends transactions and removes each that the chain has answered to. */
const sendAll = async (client: SandboxClient, unsent: Array<Hex>): Promise<void> => {
  for (let [serializedTransaction] = unsent; serializedTransaction !== undefined; [serializedTransaction] = unsent) {
    await client.sendRawTransaction({ serializedTransaction }).catch((error: unknown) => {
      // Refused if it was mined meanwhile. The others must follow in any case.
      if (isWithoutAnswer(error)) throw error
    })
    unsent.shift()
  }
}

const isWithoutAnswer = (error: unknown): boolean =>
  error instanceof BaseError &&
  error.walk((cause) => cause instanceof HttpRequestError || cause instanceof TimeoutError) !== null

/**
 * Removes the waiting transactions of an account and returns them, in the order of their nonces. Anvil reads and removes
 * in one request, so that hardly any time lies in between.
 */
const takeTransactions = async ({ chain, transport }: SandboxClient, address: Address): Promise<ReadonlyArray<Hex>> => {
  const batching = createTestClient({
    mode: "anvil",
    chain,
    transport: http(transport.url, { batch: true, retryCount: 0 })
  })
  const [{ pending, queued }] = await Promise.all([
    batching.getTxpoolContent(),
    batching.request<RemovePoolTransactions>({ method: "anvil_removePoolTransactions", params: [address] })
  ])
  return serialized({ ...pending[address], ...queued[address] })
}

/** Returns the transactions of an account, in the order of their nonces. */
const serialized = (transactions: Readonly<Record<string, RpcTransaction>>): ReadonlyArray<Hex> =>
  Object.values(transactions)
    .map((waiting) => formatTransaction(waiting))
    .sort((a, b) => a.nonce - b.nonce)
    .map((waiting) => serializeTransaction(waiting as TransactionSerializable, waiting as Signature))

/** Missing from viem's methods. */
interface RemovePoolTransactions {
  readonly Method: "anvil_removePoolTransactions"
  readonly Parameters: [sender: Address]
  readonly ReturnType: null
}
