import type { PaymentNetwork } from "./PaymentNetwork.ts"

/**
 * A token on a chain: the part of a network's configuration that is the same for every deployment. `smartAccounts` is
 * the default, and true only where a source shows that the contract takes signatures as bytes.
 */
export type TokenPreset = Pick<
  PaymentNetwork,
  "network" | "asset" | "transferMethod" | "symbol" | "decimals" | "name" | "version" | "smartAccounts"
>

/**
 * USDC of Circle, which an operator may accept at par. Its addresses are those of
 * https://developers.circle.com/stablecoins/usdc-contract-addresses. The default assets of `@x402/evm` have the domain of each but
 * that on Optimism, which https://github.com/LinkdropHQ/linkdrop-sdk, src/domains/optimism-usdc.ts, states.
 */
const USDC = { symbol: "USDC", decimals: 6, name: "USD Coin", version: "2" } as const

/**
 * Networks with USDT (often as USDT0): by `eip3009` where a source shows that the contract has transferWithAuthorization and what
 * its EIP-712 domain is, else by `permit2`. At startup each one in use is checked against its contracts, so that an outdated
 * preset is rejected.
 *
 * Other chains with USDT0 are left out until a source states the domain of their contract: it differs between chains, and
 * no function of the contract returns it.
 */
export const TOKEN_PRESETS = {
  /** https://github.com/Uniswap/uniswap-ai, its skill pay-with-app: the token of OKX's own x402 payments. */
  xLayer: {
    network: "eip155:196",
    asset: "0x779Ded0c9e1022225f8E0630b35a9b54bE713736",
    decimals: 6,
    name: "USD\u20AE0",
    version: "1"
  },
  /** https://github.com/x402-foundation/x402/pull/3457, whose author checked the domain against the chain. */
  celo: {
    network: "eip155:42220",
    asset: "0x48065fbBE25f71C9282ddf5e1cD6D6A887483D5e",
    decimals: 6,
    name: "Tether USD",
    version: "1"
  },
  /** The default asset of `@x402/evm` on the chain; also https://docs.wdk.tether.io/ai/x402. */
  stable: {
    network: "eip155:988",
    asset: "0x779Ded0c9e1022225f8E0630b35a9b54bE713736",
    decimals: 6,
    name: "USDT0",
    version: "1"
  },
  /** https://docs.wdk.tether.io/ai/x402 */
  plasma: {
    network: "eip155:9745",
    asset: "0xB8CE59FC3717ada4C02eaDF9682A9e934F625ebb",
    decimals: 6,
    name: "USDT0",
    version: "1"
  },
  /**
   * The default asset of `@x402/evm` on the chain; also https://dev.flare.network/network/guides/gasless-usdt0-transfers,
   * whose examples call transferWithAuthorization with bytes.
   */
  flare: {
    network: "eip155:14",
    asset: "0xe7cd86e13AC4309349F30B3435a9d337750fC82D",
    decimals: 6,
    name: "USD\u20AE0",
    version: "1",
    smartAccounts: true
  },
  /**
   * https://mcp.smarts.md/usdt-arbitrum shows the functions of the contract, and its DOMAIN_SEPARATOR, which is that of this name
   * and version.
   */
  arbitrum: {
    network: "eip155:42161",
    asset: "0xFd086bC7CD5C481DCC9C85ebE478A1C0b69FCbb9",
    decimals: 6,
    name: "USD\u20AE0",
    version: "1"
  },
  /**
   * https://github.com/trustwallet/assets, blockchains/ethereum; https://docs.agent.tech/cross402/api/usdt-signing states that
   * the contract has neither EIP-3009 nor EIP-2612.
   */
  ethereum: {
    network: "eip155:1",
    asset: "0xdAC17F958D2ee523a2206206994597C13D831ec7",
    transferMethod: "permit2",
    decimals: 6,
    name: "Tether USD"
  },
  /** https://github.com/bnb-chain/opbnb-bridge-tokens, opbnb.tokenlist.json. The token is of the chain, and has 18 decimals. */
  bnb: {
    network: "eip155:56",
    asset: "0x55d398326f99059fF775485246999027B3197955",
    transferMethod: "permit2",
    decimals: 18,
    name: "Tether USD"
  },
  /**
   * https://mcp.smarts.md/usdt-polygon; https://docs.agent.tech/cross402/api/usdt-signing states that its domain has a salt, which
   * no client of scheme `exact` signs.
   */
  polygon: {
    network: "eip155:137",
    asset: "0xc2132D05D31c914a87C6611C10748AEb04B58e8F",
    transferMethod: "permit2",
    decimals: 6,
    name: "USDT0"
  },
  /** https://www.npmjs.com/package/@asset-projects/token-list, version 4.2.2: the token of the chain's own bridge. */
  optimism: {
    network: "eip155:10",
    asset: "0x94b008aA00579c1307B0EF2c499aD98a8ce58e58",
    transferMethod: "permit2",
    decimals: 6,
    name: "Tether USD"
  },
  /** https://docs.range.org/faraday-api/product-info/supported-tokens */
  avalanche: {
    network: "eip155:43114",
    asset: "0x9702230A8Ea53601f5cD2dc00fDBc13d4dF4A8c7",
    transferMethod: "permit2",
    decimals: 6,
    name: "TetherToken"
  },
  /** https://github.com/ethereum-optimism/ethereum-optimism.github.io, data/USDT/data.json: the token of the chain's own bridge. */
  base: {
    network: "eip155:8453",
    asset: "0xfde4C96c8593536E31F229EA8f37b2ADa2699bb2",
    transferMethod: "permit2",
    decimals: 6,
    name: "Tether USD"
  },
  baseUsdc: { ...USDC, network: "eip155:8453", asset: "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913" },
  ethereumUsdc: { ...USDC, network: "eip155:1", asset: "0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48" },
  polygonUsdc: { ...USDC, network: "eip155:137", asset: "0x3c499c542cEF5E3811e1192ce70d8cC03d5c3359" },
  arbitrumUsdc: { ...USDC, network: "eip155:42161", asset: "0xaf88d065e77c8cC2239327C5EDb3A432268e5831" },
  avalancheUsdc: { ...USDC, network: "eip155:43114", asset: "0xB97EF9Ef8734C71904D8002F8b6Bc66Dd9c48a6E" },
  optimismUsdc: { ...USDC, network: "eip155:10", asset: "0x0b2C639c533813f4Aa9D7837CAf62653d097Ff85" }
} satisfies Readonly<Record<string, TokenPreset>>
