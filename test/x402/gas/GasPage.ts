import { SERVICES, Usdt } from "@agentos/core"
import { TOKEN_PRESETS, type TokenPreset } from "@agentos/x402"
import { formatEther, formatGwei, parseGwei } from "viem"
import * as chains from "viem/chains"

/** Units of gas of each transaction, as the sandbox's chains measured them, rounded up to hundreds. */
export const MEASURED_GAS = {
  eip3009: { settle: 68_400n, first: 85_500n, refund: 68_400n, approve: 0n },
  permit2: { settle: 87_600n, first: 104_700n, refund: 87_600n, approve: 46_600n }
} as const
type Method = keyof typeof MEASURED_GAS

const GAS_PRICES = ["0.05", "1", "20"].map((gwei) => parseGwei(gwei))
/** Assumed prices of a chain's native coin, in USDT. They belong to no coin. */
const COIN_PRICES = ["1", "100", "3000"]

const row = (cells: ReadonlyArray<string>): string => `| ${cells.join(" | ")} |`
const table = (heads: ReadonlyArray<string>, rows: ReadonlyArray<ReadonlyArray<string>>): string =>
  [row(heads), row(heads.map(() => "---")), ...rows.map(row)].join("\n")

const methodOf = (preset: TokenPreset): Method => preset.transferMethod ?? "eip3009"
const thousands = (value: bigint): string => value.toLocaleString("en-US")
const gwei = (price: bigint): string => `${formatGwei(price)} gwei`

/** The native coin of a preset's chain, as viem names it. */
const coinOf = ({ network }: TokenPreset): string => {
  const id = Number(network.slice("eip155:".length))
  const chain = Object.values(chains).find((one) => "id" in one && one.id === id)
  if (chain === undefined) throw new Error(`viem does not know ${network}`)
  return chain.nativeCurrency.symbol
}

/** Formats an amount of USDT, which can be negative, rounded down to six decimals. */
const usdt = (amount: bigint): string => (amount < 0n ? `−${Usdt.toDecimal(-amount)}` : Usdt.toDecimal(amount))
const WEI_PER_COIN = 10n ** 18n

/** What is left of a price after the gas of its settlement, in base units, rounded down. */
const kept = (price: bigint, method: Method, gasPrice: bigint, coinPrice: string): bigint =>
  price - (MEASURED_GAS[method].settle * gasPrice * Usdt.fromDecimal(coinPrice) + WEI_PER_COIN - 1n) / WEI_PER_COIN

const METHODS: ReadonlyArray<Method> = ["eip3009", "permit2"]
const PRICES = [...new Set(SERVICES.flatMap(({ price }) => price ?? []))].toSorted((a, b) => (a < b ? -1 : 1))

const unitsTable = (): string =>
  table(
    ["transaction", "paid by", "`eip3009`", "`permit2`"],
    [
      ["settlement", "facilitator", thousands(MEASURED_GAS.eip3009.settle), thousands(MEASURED_GAS.permit2.settle)],
      [
        "the first one to a `payTo` without tokens",
        "facilitator",
        thousands(MEASURED_GAS.eip3009.first),
        thousands(MEASURED_GAS.permit2.first)
      ],
      ["refund", "facilitator", thousands(MEASURED_GAS.eip3009.refund), thousands(MEASURED_GAS.permit2.refund)],
      [
        "allowance of Permit2, once for each wallet",
        "payer, unless its payments [bring it](/docs/payment-networks#allowances-without-gas), and refund wallet",
        "none",
        thousands(MEASURED_GAS.permit2.approve)
      ]
    ]
  )

const chainTable = (): string =>
  table(
    ["preset", "method", "coin", ...GAS_PRICES.map((price) => `at ${gwei(price)}`)],
    Object.entries<TokenPreset>(TOKEN_PRESETS).map(([name, preset]) => {
      const method = methodOf(preset)
      return [
        `\`${name}\``,
        `\`${method}\``,
        coinOf(preset),
        ...GAS_PRICES.map((price) => formatEther(MEASURED_GAS[method].settle * price))
      ]
    })
  )

const keptTable = (price: bigint): string =>
  table(
    ["method", "price of gas", ...COIN_PRICES.map((coin) => `if a coin cost ${coin} USDT`)],
    METHODS.flatMap((method) =>
      GAS_PRICES.map((gasPrice) => [
        `\`${method}\``,
        gwei(gasPrice),
        ...COIN_PRICES.map((coin) => usdt(kept(price, method, gasPrice, coin)))
      ])
    )
  )

/** The page of the documentation about gas. */
export const gasPage = (): string => `---
title: What gas costs
description: "Gas of a payment by each transfer method, on each preset chain, and what is left of a price."
---

Each settlement and refund is a transaction. With a third party's facilitator, that one pays for its gas. With the
[server's own](/docs/payment-networks#gas-of-the-servers-own-facilitator), you do. This page computes both from measured gas.

## Units of gas

${unitsTable()}

Measured by the receipts of the sandbox's chains, whose tokens have no proxy, by keys, with a nonce that is used for the first time.
Real tokens can take more: a call through an upgradeable proxy adds some thousand units. A smart account adds its own check, and its
deployment. \`coinPriceUsdt\` counts with 80,000 and 100,000 units.

## On each chain

The gas of one settlement, in the native coin of the chain, at three prices of gas. They are examples: ask the chain for its
current one. Arbitrum, Optimism and Base add a fee for data on Ethereum, which is not part of these numbers. On \`stable\` the coin
is USDT itself.

${chainTable()}

## What is left of a price

What you keep of a price after the gas of its settlement, in USDT. The columns are assumptions, and prices of no coin in
particular: read the one that is closest to the coin of your chain, or multiply the table above by its price.

${PRICES.filter((_, place) => place === 0 || place === PRICES.length - 1)
  .map((price) => `### Of ${Usdt.toDecimal(price)} USDT\n\n${keptTable(price)}`)
  .join("\n\n")}

A negative number is a loss. \`sellBelowGasGwei\` and \`coinPriceUsdt\` in
[the facilitator's fields](/docs/payment-networks#gas-of-the-servers-own-facilitator) can leave a network out of challenges before that.
A refund costs its gas once more, and returns the whole price.
`
