import {
  type Chain,
  type Client,
  HttpRequestError,
  type HttpTransport,
  type PublicActions,
  type TestActions,
  createTestClient,
  defineChain,
  http,
  parseAbi,
  parseUnits,
  publicActions
} from "viem"

/** A payment network of the sandbox: a token on a chain. */
export interface SandboxNetwork {
  readonly chainId: number
  /** The CAIP-2 id of the chain. */
  readonly network: `eip155:${number}`
  /** How payers authorize a transfer of the token. */
  readonly transferMethod: "eip3009" | "permit2"
  /** The token's contract, in `contracts`. */
  readonly contract: "SandboxUsdt" | "SandboxTether" | "SandboxUsdc"
  readonly assetName: string
  /** With the name, the token's EIP-712 domain. Absent if the token verifies no signatures. */
  readonly assetVersion?: string
  /** How the allowance for Permit2 comes with a payment, so that payers need no gas. */
  readonly gasSponsoring?: "eip2612"
  /** Absent if it is USDT. */
  readonly assetSymbol?: string
  readonly decimals: number
}

/** Differs from anvil's 31337, which wallets and tools treat as a development chain. */
export const sandboxChainId = 402402

/** The decimals of all tokens. */
const decimals = 6

/** The first network, whose token moves by signed transfers (EIP-3009). The name contains U+20AE. */
export const usdt0Network = {
  chainId: sandboxChainId,
  network: `eip155:${sandboxChainId}`,
  transferMethod: "eip3009",
  contract: "SandboxUsdt",
  assetName: "USD\u20AE0",
  assetVersion: "1",
  decimals
} as const satisfies SandboxNetwork

/** The second network, whose token moves only by allowances, and so by Permit2. */
export const tetherNetwork = {
  chainId: 402403,
  network: "eip155:402403",
  transferMethod: "permit2",
  contract: "SandboxTether",
  assetName: "Tether USD",
  decimals
} as const satisfies SandboxNetwork

/** The third network: another token on the second chain, whose holders sign their allowance for Permit2 with a payment. */
export const usdcNetwork = {
  chainId: tetherNetwork.chainId,
  network: tetherNetwork.network,
  transferMethod: "permit2",
  gasSponsoring: "eip2612",
  contract: "SandboxUsdc",
  assetName: "USD Coin",
  assetVersion: "2",
  assetSymbol: "USDC",
  decimals
} as const satisfies SandboxNetwork

/** The address of Multicall3 on every chain. */
export const multicall3Address = "0xcA11bde05977b3631167028862bE2a173976CA11"

/** The address of Permit2 on every chain. */
export const permit2Address = "0x000000000022D473030F116dDEE9F6B43aC78BA3"

/** The address of x402ExactPermit2Proxy on every chain. */
export const permit2ProxyAddress = "0x402085c248EeA27D92E8b30b2C58ed07f9E20001"

/** A sandbox chain for viem. */
export const sandboxChain = (rpcUrl: string, chainId: number = sandboxChainId): Chain =>
  defineChain({
    id: chainId,
    name: "AgentOS sandbox",
    nativeCurrency: { name: "Sandbox ether", symbol: "ETH", decimals: 18 },
    rpcUrls: { default: { http: [rpcUrl] } },
    contracts: { multicall3: { address: multicall3Address } },
    testnet: true
  })

export type SandboxClient = Client<HttpTransport, Chain> & PublicActions<HttpTransport, Chain> & TestActions

const READS = /^eth_(?:blockNumber|call|chainId|estimateGas|get)/

/** Reads again if the connection ended before the answer. Nothing else is repeated: it may have been done. */
const readingAgain =
  (transport: HttpTransport): HttpTransport =>
  (options) => {
    const made = transport(options)
    return {
      ...made,
      request: async (body) => {
        try {
          return await made.request(body)
        } catch (error) {
          if (!(error instanceof HttpRequestError) || !READS.test(body.method)) throw error
          return made.request(body)
        }
      }
    }
  }

/** A client that reads a sandbox chain and can change its time, blocks, balances and code. */
export const sandboxClient = (rpcUrl: string, chainId?: number, timeoutMillis = 10_000): SandboxClient =>
  createTestClient({
    mode: "anvil",
    chain: sandboxChain(rpcUrl, chainId),
    // The node is ours, and a dump of its state is larger than viem's limit of 10 MiB.
    transport: readingAgain(http(rpcUrl, { retryCount: 0, timeout: timeoutMillis, maxResponseBodySize: false })),
    pollingInterval: 20,
    cacheTime: 0
  }).extend(publicActions)

/** Converts an amount to base units of any of the tokens. */
export const usdt = (amount: number): bigint => parseUnits(String(amount), decimals)

/** The interface of `contracts/SandboxUsdt.sol`. */
export const sandboxUsdtAbi = parseAbi([
  "constructor()",
  "function name() view returns (string)",
  "function symbol() view returns (string)",
  "function version() view returns (string)",
  "function decimals() view returns (uint8)",
  "function DOMAIN_SEPARATOR() view returns (bytes32)",
  "function TRANSFER_WITH_AUTHORIZATION_TYPEHASH() view returns (bytes32)",
  "function CANCEL_AUTHORIZATION_TYPEHASH() view returns (bytes32)",
  "function totalSupply() view returns (uint256)",
  "function balanceOf(address account) view returns (uint256)",
  "function allowance(address owner, address spender) view returns (uint256)",
  "function authorizationState(address authorizer, bytes32 nonce) view returns (bool)",
  "function mint(address to, uint256 value)",
  "function transfer(address to, uint256 value) returns (bool)",
  "function approve(address spender, uint256 value) returns (bool)",
  "function transferFrom(address from, address to, uint256 value) returns (bool)",
  "function transferWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, uint8 v, bytes32 r, bytes32 s)",
  "function transferWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, bytes signature)",
  "function cancelAuthorization(address authorizer, bytes32 nonce, uint8 v, bytes32 r, bytes32 s)",
  "function cancelAuthorization(address authorizer, bytes32 nonce, bytes signature)",
  "event Transfer(address indexed from, address indexed to, uint256 value)",
  "event Approval(address indexed owner, address indexed spender, uint256 value)",
  "event AuthorizationUsed(address indexed authorizer, bytes32 indexed nonce)",
  "event AuthorizationCanceled(address indexed authorizer, bytes32 indexed nonce)"
])

/** The interface of `contracts/SandboxTether.sol`. */
export const sandboxTetherAbi = parseAbi([
  "constructor()",
  "function name() view returns (string)",
  "function symbol() view returns (string)",
  "function decimals() view returns (uint8)",
  "function owner() view returns (address)",
  "function totalSupply() view returns (uint256)",
  "function balanceOf(address account) view returns (uint256)",
  "function allowance(address owner, address spender) view returns (uint256)",
  "function isBlackListed(address account) view returns (bool)",
  "function basisPointsRate() view returns (uint256)",
  "function maximumFee() view returns (uint256)",
  "function mint(address to, uint256 value)",
  "function setParams(uint256 feeBasisPoints, uint256 maxFeeTokens)",
  "function addBlackList(address user)",
  "function removeBlackList(address user)",
  "function transfer(address to, uint256 value)",
  "function approve(address spender, uint256 value)",
  "function transferFrom(address from, address to, uint256 value)",
  "event Transfer(address indexed from, address indexed to, uint256 value)",
  "event Approval(address indexed owner, address indexed spender, uint256 value)",
  "event Params(uint256 feeBasisPoints, uint256 maxFee)",
  "event AddedBlackList(address user)",
  "event RemovedBlackList(address user)"
])
