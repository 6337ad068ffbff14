import {
  type Chain,
  type Client,
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

/** Name and version are the token's EIP-712 domain. The name contains U+20AE. */
export const sandboxUsdt = { name: "USD\u20AE0", version: "1", decimals: 6 } as const

/** Converts an amount of USDT to base units. */
export const usdt = (amount: number): bigint => parseUnits(String(amount), sandboxUsdt.decimals)

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
