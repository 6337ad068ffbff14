import * as ConfigurationField from "../network/ConfigurationField.ts"
import { Schema } from "effect"

const { between, PrivateKey } = ConfigurationField

const Gwei = Schema.Finite.check(Schema.isBetween({ minimum: 0.000_001, maximum: 1_000_000 }))

/**
 * A facilitator without a third party: the server submits settlements itself, from a wallet that pays for their gas; see
 * `FacilitatorSelf`. All servers of a deployment may share the wallet, but nothing else may use it: any other
 * transaction from it takes the place of a settlement.
 */
export const SelfFacilitatorConfig = Schema.Struct({
  kind: Schema.Literal("self"),
  /**
   * Private key of the wallet that pays for gas. The wallet holds the chain's native coin and needs none of the
   * token.
   */
  privateKey: PrivateKey,
  /**
   * Highest price of a unit of gas, in gwei; default 100. A settlement takes about 100,000 units. While the
   * chain requires more, nothing is submitted, and submitted transactions wait.
   */
  maxFeePerGasGwei: Schema.optionalKey(Gwei),
  /**
   * Price of a unit of gas, in gwei, above which challenges leave this network out; default `maxFeePerGasGwei`. Payments under
   * earlier challenges are still submitted.
   */
  sellBelowGasGwei: Schema.optionalKey(Gwei),
  /**
   * Price of the chain's native coin, in USDT. With it, challenges leave this network out for calls that cost less than the
   * gas of their settlement. Without it, the default, the price of a call does not matter.
   */
  coinPriceUsdt: Schema.optionalKey(ConfigurationField.DecimalPrice),
  /** Time without being mined after which a transaction is signed again at a higher price; default 15,000. */
  repriceAfterMillis: Schema.optionalKey(between(1_000, 3_600_000)),
  /** Time that a settlement waits to be mined before its outcome counts as unknown; default 20,000. */
  settleTimeoutMillis: Schema.optionalKey(between(1, 600_000))
})
export type SelfFacilitatorConfig = typeof SelfFacilitatorConfig.Type
