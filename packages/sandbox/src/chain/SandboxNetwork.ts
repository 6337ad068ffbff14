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

/** Not anvil's 31337: a wallet or a tool that knows that number treats the chain as a development toy. */
export const sandboxChainId = 402402

/** The chain as CAIP-2 names it. */
export const sandboxNetwork = `eip155:${sandboxChainId}` as const

/** Where Multicall3 lives on every chain that has it. */
export const multicall3Address = "0xcA11bde05977b3631167028862bE2a173976CA11"

/** The sandbox chain as viem describes chains. */
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

/** A client that reads the sandbox chain and can rule it: time, blocks, balances, code. */
export const sandboxClient = (rpcUrl: string, timeoutMillis = 10_000): SandboxClient =>
  createTestClient({
    mode: "anvil",
    chain: sandboxChain(rpcUrl),
    transport: http(rpcUrl, { retryCount: 0, timeout: timeoutMillis }),
    pollingInterval: 20,
    cacheTime: 0
  }).extend(publicActions)
