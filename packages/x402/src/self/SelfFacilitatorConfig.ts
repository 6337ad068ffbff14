import * as ConfigurationField from "../network/ConfigurationField.ts"
import { Schema } from "effect"

const { between, PrivateKey } = ConfigurationField

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
  maxFeePerGasGwei: Schema.optionalKey(
    Schema.Finite.check(Schema.isBetween({ minimum: 0.000_001, maximum: 1_000_000 }))
  ),
  /** Time without being mined after which a transaction is signed again at a higher price; default 15,000. */
  repriceAfterMillis: Schema.optionalKey(between(1_000, 3_600_000)),
  /** Time that a settlement waits to be mined before its outcome counts as unknown; default 20,000. */
  settleTimeoutMillis: Schema.optionalKey(between(1, 600_000))
})
export type SelfFacilitatorConfig = typeof SelfFacilitatorConfig.Type
