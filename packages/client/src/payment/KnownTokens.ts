import { isLoopback, type Settings } from "../Options.ts"

interface Usdt {
  /** Of the network. */
  readonly name: string
  readonly asset: string
  readonly decimals: number
}

/** Of prices, and of nearly every USDT. */
const DECIMALS = 6

/**
 * The contracts of USDT by network (CAIP-2). Limits are in USDT: 0.25 of another token could be worth a thousand times as much,
 * and so could 0.25 of a token whose decimals a server may choose.
 */
const USDT: Readonly<Record<string, Usdt>> = {
  "eip155:196": { name: "X Layer", asset: "0x779Ded0c9e1022225f8E0630b35a9b54bE713736", decimals: 6 },
  "eip155:42220": { name: "Celo", asset: "0x48065fbBE25f71C9282ddf5e1cD6D6A887483D5e", decimals: 6 },
  "eip155:988": { name: "Stable", asset: "0x779Ded0c9e1022225f8E0630b35a9b54bE713736", decimals: 6 },
  "eip155:9745": { name: "Plasma", asset: "0xB8CE59FC3717ada4C02eaDF9682A9e934F625ebb", decimals: 6 },
  "eip155:14": { name: "Flare", asset: "0xe7cd86e13AC4309349F30B3435a9d337750fC82D", decimals: 6 },
  "eip155:42161": { name: "Arbitrum", asset: "0xFd086bC7CD5C481DCC9C85ebE478A1C0b69FCbb9", decimals: 6 },
  "eip155:1": { name: "Ethereum", asset: "0xdAC17F958D2ee523a2206206994597C13D831ec7", decimals: 6 },
  "eip155:56": { name: "BNB Chain", asset: "0x55d398326f99059fF775485246999027B3197955", decimals: 18 },
  "eip155:137": { name: "Polygon", asset: "0xc2132D05D31c914a87C6611C10748AEb04B58e8F", decimals: 6 },
  "eip155:10": { name: "Optimism", asset: "0x94b008aA00579c1307B0EF2c499aD98a8ce58e58", decimals: 6 },
  "eip155:43114": { name: "Avalanche", asset: "0x9702230A8Ea53601f5cD2dc00fDBc13d4dF4A8c7", decimals: 6 },
  "eip155:8453": { name: "Base", asset: "0xfde4C96c8593536E31F229EA8f37b2ADa2699bb2", decimals: 6 }
}

/** A server may name a network `constructor`. */
const usdtOn = (network: string): Usdt | undefined => (Object.hasOwn(USDT, network) ? USDT[network] : undefined)

/** Returns a network for people: its name, if it is known, and its id. */
export const networkNameOf = (network: string): string => {
  const known = usdtOn(network)
  return known === undefined ? network : `${known.name} (${network})`
}

/** The tokens that a payer accepts. */
export type Acceptance = Pick<Settings, "assets" | "baseUrl">

const isSame = (one: string, other: string): boolean => one.toLowerCase() === other.toLowerCase()

/**
 * Returns the decimals of a token that counts as USDT; undefined for another one. A sandbox on this machine has its own chain
 * and token. On a chain with a known USDT, that token is required.
 */
export const decimalsOf = (network: string, asset: string, { assets, baseUrl }: Acceptance): number | undefined => {
  const listed = assets?.find((one) => one.network === network && isSame(one.asset, asset))
  if (listed !== undefined) return listed.decimals ?? DECIMALS
  const usdt = usdtOn(network)
  if (usdt !== undefined) return isSame(usdt.asset, asset) ? usdt.decimals : undefined
  return isLoopback(new URL(baseUrl).hostname) ? DECIMALS : undefined
}
