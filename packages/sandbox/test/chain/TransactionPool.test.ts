import { once } from "node:events"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { text } from "node:stream/consumers"
import { parseEther } from "viem"
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts"
import { expect, it, onTestFinished, vi } from "vitest"
import { startAnvil } from "../../src/chain/Anvil.ts"
import { sandboxChainId, sandboxClient } from "../../src/chain/SandboxNetwork.ts"
import { freeTransactions, newPoolMemory } from "../../src/chain/TransactionPool.ts"

/** Passes requests on to the chain, and loses the answers to those that remove transactions. */
const startLosing = async (rpcUrl: string): Promise<string> => {
  const proxy = createServer((request, response) => {
    const pass = async () => {
      const body = await text(request)
      const answer = await fetch(rpcUrl, { method: "POST", body, headers: { "content-type": "application/json" } })
      const answered = await answer.text()
      if (body.includes("anvil_removePoolTransactions")) request.socket.destroy()
      else response.writeHead(answer.status, { "content-type": "application/json" }).end(answered)
    }
    void pass()
  }).listen(0, "127.0.0.1")
  await once(proxy, "listening")
  onTestFinished(() => {
    proxy.closeAllConnections()
    proxy.close()
  })
  return `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`
}

/** A chain that does not free transactions by itself, and an account whose transaction with nonce 1 waits on it for ever. */
const startWaiting = async () => {
  const { rpcUrl, process: anvil } = await startAnvil({ chainId: sandboxChainId, port: 0, mining: "automatic" })
  onTestFinished(async () => {
    anvil.kill("SIGKILL")
    await anvil.exited
  })
  const client = sandboxClient(rpcUrl)
  const account = privateKeyToAccount(generatePrivateKey())
  const { address } = account
  await client.setBalance({ address, value: parseEther("1") })
  const send = async (nonce: number) => {
    const fees = { maxFeePerGas: 10_000_000_000n, maxPriorityFeePerGas: 0n }
    const transaction = { chainId: sandboxChainId, to: address, nonce, gas: 21_000n, type: "eip1559", ...fees } as const
    return client.sendRawTransaction({ serializedTransaction: await account.signTransaction(transaction) })
  }
  await send(1)
  // As if the transaction before had been mined while this one arrived.
  await client.setNonce({ address, nonce: 1 })
  return { rpcUrl, client, send, minedCount: () => client.getTransactionCount({ address }) }
}

it("sends waiting transactions again when their account has sent no more since the last call", async () => {
  const { client, minedCount, send } = await startWaiting()
  const memory = newPoolMemory()
  await freeTransactions(client, memory)
  await send(2)
  await freeTransactions(client, memory)
  expect(await minedCount()).toBe(1)
  await freeTransactions(client, memory)
  await vi.waitFor(async () => expect(await minedCount()).toBe(3), { timeout: 60_000, interval: 20 })
  expect(memory.unsent).toEqual([])
})

it("keeps the transactions that it removes when the chain's answer is lost", async () => {
  const { client, minedCount, rpcUrl } = await startWaiting()
  const memory = newPoolMemory()
  await freeTransactions(client, memory)
  await expect(freeTransactions(sandboxClient(await startLosing(rpcUrl)), memory)).rejects.toThrow()
  expect(await client.getTxpoolStatus()).toEqual({ pending: 0, queued: 0 })
  await freeTransactions(client, memory)
  await vi.waitFor(async () => expect(await minedCount()).toBe(2), { timeout: 60_000, interval: 20 })
})
