import type { PaymentNetwork } from "./PaymentNetwork.ts"

/**
 * A token on a chain: the part of a network's configuration that is the same for every deployment. `smartAccounts` is
 * the default, and true only where a source shows that the contract takes signatures as bytes.
 */
export type TokenPreset = Pick<PaymentNetwork, "network" | "asset" | "decimals" | "name" | "version" | "smartAccounts">

/**
 * Networks on which USDT (mostly as USDT0) supports transferWithAuthorization. At startup each one in use is
 * checked against its contract, so that an outdated preset is rejected.
 *
 * Other chains with USDT0 are left out until a source states the EIP-712 domain of their contract: it differs
 * between chains, and no function of the contract returns it.
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
  }
} satisfies Readonly<Record<string, TokenPreset>>
