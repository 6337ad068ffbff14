import {
  type Address,
  createTestClient,
  formatTransaction,
  type Hex,
  http,
  serializeTransaction,
  type Signature,
  type TransactionSerializable
} from "viem"
import type { SandboxClient } from "./SandboxNetwork.ts"

/**
 * Sends the transactions again that anvil will never mine by itself. Rejects if the chain does not answer.
 *
 * If a transaction arrives in the moment in which the one before it is mined, anvil 1.7 can let it wait for that one:
 * once in 2,500 when an account sends sixteen at a time. All later ones of the account then wait too.
 */
export const freeTransactions = async (client: SandboxClient): Promise<void> => {
  if ((await client.getTxpoolStatus()).queued === 0) return
  const { queued } = await client.getTxpoolContent()
  for (const address of Object.keys(queued) as Array<Address>) {
    const next = await client.getTransactionCount({ address })
    if (queued[address]?.[next] === undefined) continue
    for (const serializedTransaction of await takeTransactions(client, address)) {
      // Refused if it was mined meanwhile. The others must follow in any case.
      await client.sendRawTransaction({ serializedTransaction }).catch(() => undefined)
    }
  }
}

/**
 * Removes the waiting transactions of an account and returns them, in the order of their nonces. Anvil reads and removes
 * in one request, so that none is lost that arrives in between.
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
  return Object.values({ ...pending[address], ...queued[address] })
    .map((waiting) => formatTransaction(waiting))
    .sort((a, b) => a.nonce - b.nonce)
    .map((waiting) => serializeTransaction(waiting as TransactionSerializable, waiting as Signature))
}

/** Missing from viem's methods. */
interface RemovePoolTransactions {
  readonly Method: "anvil_removePoolTransactions"
  readonly Parameters: [sender: Address]
  readonly ReturnType: null
}
