import type { SettleAnswer } from "@agentos/core"
import { Schema } from "effect"
import { SPONSORING_EXTENSIONS } from "../header/GasSponsoring.ts"
import { GasSponsoring } from "../network/PaymentNetwork.ts"
import type { FacilitatorSupport } from "./Facilitator.ts"

/** Text that may be missing or null. */
export const optionalText = Schema.optionalKey(Schema.NullOr(Schema.String))

/** The response of /settle (x402 version 2, section 7.2). */
export const Settlement = Schema.Struct({
  success: Schema.Boolean,
  transaction: optionalText,
  errorReason: optionalText
})

/** The response of /supported (section 7.3). */
export const Supported = Schema.Struct({
  kinds: Schema.Array(Schema.Struct({ x402Version: Schema.Number, scheme: Schema.String, network: Schema.String })),
  extensions: Schema.optionalKey(Schema.Unknown)
})

/**
 * Reasons with which a facilitator states that it did not submit the payment, because it found a fault in the
 * payment itself. From x402 version 2, section 9, and from `@x402/evm`. Every other reason counts as unknown,
 * above all those that a settled payment can cause: `settlement_pending`, `…_transaction_failed`,
 * `…_nonce_already_used`, `…_transaction_simulation_failed`, `permit2_simulation_failed`, `permit2_invalid_nonce`,
 * `invalid_transaction_state`, `unexpected_settle_error`.
 */
const REFUSALS: ReadonlySet<string> = new Set([
  "asset_not_deployed_contract",
  "eip2612_asset_mismatch",
  "eip2612_deadline_expired",
  "eip2612_from_mismatch",
  "eip2612_spender_not_permit2",
  "eip6492_factory_not_allowed",
  "erc20_approval_asset_mismatch",
  "erc20_approval_from_mismatch",
  "erc20_approval_spender_not_permit2",
  "erc20_approval_tx_invalid_calldata",
  "erc20_approval_tx_invalid_signature",
  "erc20_approval_tx_parse_failed",
  "erc20_approval_tx_signer_mismatch",
  "erc20_approval_tx_wrong_selector",
  "erc20_approval_tx_wrong_spender",
  "erc20_approval_tx_wrong_target",
  "insufficient_funds",
  "invalid_eip2612_extension_format",
  "invalid_erc20_approval_extension_format",
  "invalid_exact_evm_authorization_value",
  "invalid_exact_evm_eip3009_not_supported",
  "invalid_exact_evm_failed_to_parse_signature",
  "invalid_exact_evm_insufficient_balance",
  "invalid_exact_evm_missing_eip712_domain",
  "invalid_exact_evm_network_mismatch",
  "invalid_exact_evm_recipient_mismatch",
  "invalid_exact_evm_scheme",
  "invalid_exact_evm_signature",
  "invalid_exact_evm_token_name_mismatch",
  "invalid_exact_evm_token_version_mismatch",
  "invalid_network",
  "invalid_payload",
  "invalid_payment_requirements",
  "invalid_permit2_recipient_mismatch",
  "invalid_permit2_signature",
  "invalid_permit2_spender",
  "invalid_scheme",
  "invalid_x402_version",
  "permit2_allowance_required",
  "permit2_amount_mismatch",
  "permit2_deadline_expired",
  "permit2_insufficient_balance",
  "permit2_not_yet_valid",
  "permit2_proxy_not_deployed",
  "permit2_token_mismatch",
  "smart_wallet_deployment_failed",
  "unsupported_payload_type",
  "unsupported_scheme"
])
/** Common prefix of all reasons about the payload as it was sent. */
const PAYLOAD_REFUSAL = "invalid_exact_evm_payload_"

/** Returns whether a code states explicitly that nothing was submitted. */
export const isRefusal = (code: string): boolean => REFUSALS.has(code) || code.startsWith(PAYLOAD_REFUSAL)

/** Returns a reason that is safe to show: only codes, since texts may contain the URLs of nodes with their keys. */
export const codeOf = (reason: string | null | undefined): string =>
  typeof reason === "string" && /^[a-z0-9_.:-]{1,80}$/i.test(reason) ? reason : "no reason given"

/** Returns what of scheme `exact` of version 2 is supported on a network. */
export const supportOn = (network: string, { extensions, kinds }: typeof Supported.Type): FacilitatorSupport => {
  const names = [network, network.replace(/:.*/, ":*")]
  return {
    exact: kinds.some((kind) => kind.x402Version === 2 && kind.scheme === "exact" && names.includes(kind.network)),
    gasSponsoring: GasSponsoring.literals.filter(
      (kind) => Array.isArray(extensions) && extensions.includes(SPONSORING_EXTENSIONS[kind])
    )
  }
}

export const accepted = (transaction: string): SettleAnswer => ({
  _tag: "Accepted",
  transaction: transaction.toLowerCase()
})

export const refused = (code: string): SettleAnswer => ({
  _tag: "Refused",
  message: `The facilitator refused the payment: ${code}.`
})

export const unknown = (message: string): SettleAnswer => ({ _tag: "Unknown", message })

/** The answer to a failed settlement that may have been submitted all the same. */
export const unconfirmed = (code: string): SettleAnswer =>
  unknown(`The facilitator did not confirm that the payment failed: ${code}.`)

/** Returns whether a text is a transaction hash other than zero. */
export const isTransaction = (text: string): boolean => /^0x[0-9a-f]{64}$/i.test(text) && !/^0x0+$/.test(text)
