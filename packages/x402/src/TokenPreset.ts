import type { PaymentNetwork } from "./PaymentNetwork.ts"

/** What is known of a token on a chain: the part of a network's configuration that is the same for everybody. */
export type TokenPreset = Pick<PaymentNetwork, "network" | "asset" | "decimals" | "name" | "version">

/**
 * Networks on which USDT (as USDT0) has transferWithAuthorization. At start-up each is held against its contract,
 * so that a preset that has gone out of date is refused, not used.
 */
export const TOKEN_PRESETS = {
  xLayer: {
    network: "eip155:196",
    asset: "0x779Ded0c9e1022225f8E0630b35a9b54bE713736",
    decimals: 6,
    name: "USD\u20AE0",
    version: "1"
  },
  celo: {
    network: "eip155:42220",
    asset: "0x48065fbBE25f71C9282ddf5e1cD6D6A887483D5e",
    decimals: 6,
    name: "Tether USD",
    version: "1"
  },
  stable: {
    network: "eip155:988",
    asset: "0x779Ded0c9e1022225f8E0630b35a9b54bE713736",
    decimals: 6,
    name: "USDT0",
    version: "1"
  }
} satisfies Readonly<Record<string, TokenPreset>>
