import { copyDatabase } from "@agentos/postgres/testing"
import { sandboxClient } from "@agentos/sandbox"
import { afterAll, beforeAll, expect, it } from "vitest"
import { freshName } from "../support/Agent.ts"
import { Chain } from "../support/Chain.ts"
import { type Cluster, startCluster } from "../support/Cluster.ts"
import { startStockFacilitator, type StockFacilitator } from "../support/StockFacilitator.ts"
import { fundedAccount, STOCK_PAYERS } from "../support/StockPayers.ts"

/** A server whose facilitator, made of x402's library, sends the transactions by which payers allow Permit2 their tokens. */
let cluster: Cluster
let facilitator: StockFacilitator
beforeAll(async () => {
  facilitator = await startStockFacilitator()
  cluster = await startCluster({
    servers: 1,
    paymentMethod: "permit2",
    embedded: copyDatabase,
    network: (planned) => {
      if (!("transferMethod" in planned)) return planned
      facilitator.serve(planned)
      return { ...planned, gasSponsoring: "erc20Approval", facilitator: { url: facilitator.url } }
    }
  })
})
afterAll(async () => {
  await cluster?.stop()
  facilitator?.close()
})

const CREATE = "/api/v1/email/mailboxes"
const MAILBOX_PRICE = 250_000n

it.each(STOCK_PAYERS)("buys for %s in a token without permits, from a wallet without coins", async (_, payerOf) => {
  const { chain, servers } = cluster
  const client = sandboxClient(chain.rpcUrl, chain.chainId)
  const account = await fundedAccount(cluster, chain)
  await client.setBalance({ address: account.address, value: 0n })
  const pay = payerOf(servers[0]!, chain, account, true)
  for (const _purchase of [1, 2]) {
    const { amount, result } = await new Chain(cluster).charged(account.address, () =>
      pay(CREATE, { localPart: freshName() })
    )
    expect([result.status, amount]).toEqual([201, MAILBOX_PRICE])
  }
  // The approval is the only transaction that the wallet signed, and the facilitator paid for it.
  expect(await client.getTransactionCount(account)).toBe(1)
})
