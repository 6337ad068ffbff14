import {
  type Chain,
  type Client,
  type HttpTransport,
  type PublicActions,
  type TestActions,
  createTestClient,
  defineChain,
  http,
  publicActions
} from "viem"

/** Differs from anvil's 31337, which wallets and tools treat as a development chain. */
export const sandboxChainId = 402402

/** The CAIP-2 id of the chain. */
export const sandboxNetwork = `eip155:${sandboxChainId}` as const

/** The address of Multicall3 on every chain. */
export const multicall3Address = "0xcA11bde05977b3631167028862bE2a173976CA11"

/** The sandbox chain for viem. */
export const sandboxChain = (rpcUrl: string): Chain =>
  defineChain({
    id: sandboxChainId,
    name: "AgentOS sandbox",
    nativeCurrency: { name: "Sandbox ether", symbol: "ETH", decimals: 18 },
    rpcUrls: { default: { http: [rpcUrl] } },
    contracts: { multicall3: { address: multicall3Address } },
    testnet: true
  })

export type SandboxClient = Client<HttpTransport, Chain> & PublicActions<HttpTransport, Chain> & TestActions

/** A client that reads the sandbox chain and can change its time, blocks, balances and code. */
export const sandboxClient = (rpcUrl: string, timeoutMillis = 10_000): SandboxClient =>
  createTestClient({
    mode: "anvil",
    chain: sandboxChain(rpcUrl),
    transport: http(rpcUrl, { retryCount: 0, timeout: timeoutMillis }),
    pollingInterval: 20,
    cacheTime: 0
  }).extend(publicActions)
