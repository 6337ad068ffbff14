import { AgentOsError, type ErrorDetails } from "../AgentOsError.ts"
import { decodeJson, isRecord, type Json } from "../Encoding.ts"
import type { PaymentOption, Settings } from "../Options.ts"
import { priceOf } from "./Amount.ts"
import { type Acceptance, decimalsOf } from "./KnownTokens.ts"
import { takesPermits } from "./Permit.ts"

/** One way to pay that a challenge offers (x402 version 2). */
export interface ChallengeOption {
  readonly scheme: string
  /** CAIP-2. */
  readonly network: string
  readonly asset: string
  /** Base units of the token. */
  readonly amount: bigint
  /** Base units of a price in USDT: millionths. */
  readonly price: bigint
  /** Of the token, as the payer knows them: 6 for one that is not accepted. */
  readonly decimals: number
  /** Whether the token counts as USDT. */
  readonly isAccepted: boolean
  /** `none` for the transfer method `eip3009` of scheme `exact`, the others for `permit2`. */
  readonly allowanceBy: PaymentOption["allowanceBy"]
  /** Of the permit that the payment brings. */
  readonly permitNonce?: bigint
  readonly payTo: string
  readonly maxTimeoutSeconds: number
  readonly extra: Json
  /** As received. The payment repeats it. */
  readonly raw: Json
}

export interface Challenge {
  readonly options: ReadonlyArray<ChallengeOption>
  readonly resource: unknown
  readonly extensions: unknown
}

const unsupported = (
  message: string,
  reason: ErrorDetails<"PAYMENT_UNSUPPORTED">["reason"] = "refused"
): AgentOsError =>
  new AgentOsError({ code: "PAYMENT_UNSUPPORTED", message: `${message} Nothing was signed.`, details: { reason } })

/** Returns how a wallet lets Permit2 move its tokens, by their transfer method: `eip3009` is the default of x402. */
export const allowanceOf = (method: unknown, takesPermits: boolean): PaymentOption["allowanceBy"] =>
  method !== "permit2" ? "none" : takesPermits ? "signature" : "transaction"

const optionOf = (value: unknown, acceptance: Acceptance, extensions: unknown): ChallengeOption => {
  const { amount, asset, extra, maxTimeoutSeconds, network, payTo, scheme } = isRecord(value) ? value : {}
  const isValid =
    isRecord(value) &&
    typeof scheme === "string" &&
    typeof network === "string" &&
    typeof asset === "string" &&
    typeof payTo === "string" &&
    typeof amount === "string" &&
    /^\d{1,78}$/.test(amount) &&
    Number.isSafeInteger(maxTimeoutSeconds)
  if (!isValid) throw unsupported("The challenge of the server has an invalid option.", "invalid")
  const known = decimalsOf(network, asset, acceptance)
  const decimals = known ?? 6
  const fields = isRecord(extra) ? extra : {}
  return {
    scheme,
    network,
    asset,
    payTo,
    amount: BigInt(amount),
    price: priceOf(BigInt(amount), decimals),
    decimals,
    isAccepted: known !== undefined,
    allowanceBy: allowanceOf(fields["assetTransferMethod"], takesPermits(extensions, fields)),
    maxTimeoutSeconds: Number(maxTimeoutSeconds),
    extra: fields,
    raw: value
  }
}

/** Parses a PAYMENT-REQUIRED header of x402 version 2. Throws PAYMENT_UNSUPPORTED. */
export const readChallenge = (header: string, acceptance: Acceptance): Challenge => {
  const json = decodeJson(header)
  if (!isRecord(json) || json["x402Version"] !== 2 || !Array.isArray(json["accepts"]))
    throw unsupported("The challenge of the server is not one of x402 version 2.", "invalid")
  const { accepts, extensions, resource } = json as Json & { readonly accepts: ReadonlyArray<unknown> }
  return { options: accepts.map((one) => optionOf(one, acceptance, extensions)), resource, extensions }
}

/** The longest validity of a signed payment in seconds. Until it expires, any holder can submit it. */
const VALIDITY_SECONDS_MAX = 3_600

const isAddress = (text: string): boolean => /^0x[0-9a-fA-F]{40}$/.test(text)

const canSign = ({ asset, network, payTo, scheme }: ChallengeOption): boolean =>
  scheme === "exact" &&
  // A leading zero would be another name of a chain with a known USDT.
  /^eip155:[1-9]\d{0,14}$/.test(network) &&
  isAddress(asset) &&
  isAddress(payTo)

const isShort = ({ maxTimeoutSeconds }: ChallengeOption): boolean =>
  maxTimeoutSeconds > 0 && maxTimeoutSeconds <= VALIDITY_SECONDS_MAX

/**
 * Returns the options that can be signed, one at least: scheme `exact`, an EVM chain, an accepted token, and the network of the
 * payer if it names one. Throws PAYMENT_UNSUPPORTED.
 */
export const supportedOptions = (
  challenge: Challenge,
  { assets, network }: Pick<Settings, "assets" | "network">
): readonly [ChallengeOption, ...ReadonlyArray<ChallengeOption>] => {
  const candidates = challenge.options.filter(
    (option) => canSign(option) && (network === undefined || option.network === network)
  )
  const accepted = candidates.filter(({ isAccepted }) => isAccepted)
  const [first, ...others] = accepted.filter(isShort)
  if (first !== undefined) return [first, ...others]
  if (accepted[0] !== undefined)
    throw unsupported(
      `The server asks for a payment that is valid for ${accepted[0].maxTimeoutSeconds} s; the maximum is 1 hour.`
    )
  const offered = challenge.options.map((one) => `${one.scheme}, ${one.asset} on ${one.network}`).join("; ")
  throw unsupported(
    candidates.length > 0
      ? `The server asks for a token that is not a known USDT contract (${offered}).${assets === undefined ? " List it in assets to accept it." : ""}`
      : `The server offers no supported payment option (${offered}).`
  )
}

/**
 * Returns when an option expires, in milliseconds since 1970; undefined if it does not say. Accepts Unix seconds and
 * milliseconds. The limit is the year 5138 in seconds and 1973 in milliseconds.
 */
export const expiryOf = ({ extra: { expiresAt } }: ChallengeOption): number | undefined => {
  if (typeof expiresAt !== "number" || !Number.isFinite(expiresAt)) return undefined
  return expiresAt < 1e11 ? expiresAt * 1_000 : expiresAt
}

/** Throws PAYMENT_UNSUPPORTED if the challenge has expired, for example while the payment was approved. */
export const checkFresh = (option: ChallengeOption, now: number): void => {
  const expiresAt = expiryOf(option)
  if (expiresAt !== undefined && expiresAt <= now)
    throw unsupported("The price has expired, or the clock of this machine is fast. Make the call again.", "expired")
}
