import { once } from "node:events"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { text } from "node:stream/consumers"
import { parseEther } from "viem"
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts"
import { expect, it, onTestFinished } from "vitest"
import { sandboxClient } from "../../src/chain/SandboxNetwork.ts"
import { freeTransactions, type UnsentTransactions } from "../../src/chain/TransactionPool.ts"
import { makeDataDir, startTestChain } from "./TestChain.ts"

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

it("keeps the transactions that it removes when the chain's answer is lost", async () => {
  const { chainId, rpcUrl } = await startTestChain(await makeDataDir())
  const client = sandboxClient(rpcUrl)
  const account = privateKeyToAccount(generatePrivateKey())
  await client.setBalance({ address: account.address, value: parseEther("1") })
  const signed = await account.signTransaction({
    chainId,
    type: "eip1559",
    to: account.address,
    nonce: 1,
    gas: 21_000n,
    maxFeePerGas: 10_000_000_000n,
    maxPriorityFeePerGas: 0n
  })
  const hash = await client.sendRawTransaction({ serializedTransaction: signed })
  // As if the transaction before had been mined while this one arrived.
  await client.setNonce({ address: account.address, nonce: 1 })
  const unsent: UnsentTransactions = []
  await freeTransactions(sandboxClient(await startLosing(rpcUrl)), unsent).catch(() => undefined)
  await freeTransactions(client, unsent)
  expect(await client.waitForTransactionReceipt({ hash, timeout: 10_000 })).toMatchObject({ status: "success" })
})
