import type { SandboxDescription } from "@agentos/sandbox"
import { wrapAxiosWithPayment, x402Client as AxiosClient } from "@x402/axios"
import { ExactEvmScheme } from "@x402/evm/exact/client"
import { wrapFetchWithPayment, x402Client as FetchClient } from "@x402/fetch"
import axios from "axios"
import { randomUUID } from "node:crypto"
import type { Hex } from "viem"
import { generatePrivateKey, type PrivateKeyAccount, privateKeyToAccount } from "viem/accounts"
import { expect } from "vitest"

type SandboxChain = Pick<SandboxDescription["chains"][number], "asset" | "network" | "rpcUrl">

/** A purchase, as far as its tests read it. */
export interface Purchase {
  readonly status: number
  readonly receipt: string | null
  readonly body: {
    readonly error?: {
      readonly code: string
      readonly message: string
      readonly paymentState: string
      readonly transaction?: { readonly to: Hex; readonly data: Hex }
    }
  }
}

export type Pay = (path: string, body: unknown) => Promise<Purchase>

/** Makes a client that pays a sandbox in the token of one chain alone. With `readsChain`, it has the URL of the chain's node. */
export type StockPayer = (
  sandbox: Pick<SandboxDescription, "baseUrl">,
  chain: SandboxChain,
  account: PrivateKeyAccount,
  readsChain?: boolean
) => Pay

const schemeOf = ({ rpcUrl }: SandboxChain, account: PrivateKeyAccount, readsChain = false) =>
  new ExactEvmScheme(account, readsChain ? { rpcUrl } : undefined)

/** Two tokens can be on one network. */
const inToken =
  ({ asset }: SandboxChain) =>
  <Terms extends { readonly asset?: string }>(_version: number, accepts: Array<Terms>): Array<Terms> =>
    accepts.filter((terms) => terms.asset === asset)

const byFetch: StockPayer = ({ baseUrl }, chain, account, readsChain) => {
  const { asset, network } = chain
  const client = new FetchClient()
    .register(network, schemeOf(chain, account, readsChain))
    .registerPolicy(inToken(chain))
  client.setSpendControls({ allowedAssets: [{ network, asset, maxAmountPerPayment: "5000000" }] })
  const paying = wrapFetchWithPayment(fetch, client)
  return async (path, body) => {
    const response = await paying(baseUrl + path, {
      method: "POST",
      headers: { "Content-Type": "application/json", "Idempotency-Key": randomUUID() },
      body: JSON.stringify(body)
    })
    const receipt = response.headers.get("payment-response")
    return { status: response.status, receipt, body: (await response.json()) as Purchase["body"] }
  }
}

const byAxios: StockPayer = ({ baseUrl: baseURL }, chain, account, readsChain) => {
  const client = new AxiosClient()
    .register(chain.network, schemeOf(chain, account, readsChain))
    .registerPolicy(inToken(chain))
  const paying = wrapAxiosWithPayment(axios.create({ baseURL, validateStatus: (status) => status !== 402 }), client)
  return async (path, body) => {
    const { data, headers, status } = await paying.post<Purchase["body"]>(path, body, {
      headers: { "Idempotency-Key": randomUUID() }
    })
    return { status, receipt: (headers["payment-response"] as string | undefined) ?? null, body: data }
  }
}

export const STOCK_PAYERS = [
  ["@x402/fetch", byFetch],
  ["@x402/axios", byAxios]
] as const

/** Creates a wallet with 100 tokens of a chain, and with gas if its payers need some. */
export const fundedAccount = async (
  sandbox: Pick<SandboxDescription, "facilitatorUrl">,
  chain: SandboxChain
): Promise<PrivateKeyAccount> => {
  const account = privateKeyToAccount(generatePrivateKey())
  await fund(sandbox, chain, account)
  return account
}

/** Gives a wallet 100 tokens of a chain, and gas if its payers need some. */
export const fund = async (
  { facilitatorUrl }: Pick<SandboxDescription, "facilitatorUrl">,
  { asset, network }: SandboxChain,
  { address }: { readonly address: Hex }
): Promise<void> => {
  const response = await fetch(`${facilitatorUrl}/sandbox/faucet`, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ address, network, asset })
  })
  expect(response.status).toBe(200)
}
