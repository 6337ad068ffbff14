import { AgentOsError, type ErrorDetails } from "../AgentOsError.ts"
import { decodeJson, isRecord, type Json } from "../Encoding.ts"
import { isLoopback, type Settings } from "../Options.ts"

/** One way to pay that a challenge offers (x402 version 2). */
export interface ChallengeOption {
  readonly scheme: string
  /** CAIP-2. */
  readonly network: string
  readonly asset: string
  readonly amount: bigint
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

const optionOf = (value: unknown): ChallengeOption => {
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
  return {
    scheme,
    network,
    asset,
    payTo,
    amount: BigInt(amount),
    maxTimeoutSeconds: Number(maxTimeoutSeconds),
    extra: isRecord(extra) ? extra : {},
    raw: value
  }
}

/** Parses a PAYMENT-REQUIRED header of x402 version 2. Throws PAYMENT_UNSUPPORTED. */
export const readChallenge = (header: string): Challenge => {
  const json = decodeJson(header)
  if (!isRecord(json) || json["x402Version"] !== 2 || !Array.isArray(json["accepts"]))
    throw unsupported("The challenge of the server is not one of x402 version 2.", "invalid")
  return { options: json["accepts"].map(optionOf), resource: json["resource"], extensions: json["extensions"] }
}

/**
 * The contracts of USDT, with 6 decimals, on the networks where it supports authorizations. Limits are in USDT: 0.25 of
 * another token could be worth a thousand times as much.
 */
const USDT: Readonly<Record<string, string>> = {
  "eip155:196": "0x779Ded0c9e1022225f8E0630b35a9b54bE713736",
  "eip155:42220": "0x48065fbBE25f71C9282ddf5e1cD6D6A887483D5e",
  "eip155:988": "0x779Ded0c9e1022225f8E0630b35a9b54bE713736",
  "eip155:9745": "0xB8CE59FC3717ada4C02eaDF9682A9e934F625ebb",
  "eip155:14": "0xe7cd86e13AC4309349F30B3435a9d337750fC82D"
}

/** The longest validity of a signed payment in seconds. Until it expires, any holder can submit it. */
const VALIDITY_SECONDS_MAX = 3_600

/** The tokens and limits that a payer accepts. */
export type Acceptance = Pick<Settings, "assets" | "baseUrl" | "network">

/** A sandbox on this machine has its own chain and token. On a chain with a known USDT, that token is required. */
const isAccepted = (option: ChallengeOption, { assets, baseUrl }: Acceptance): boolean => {
  const asset = option.asset.toLowerCase()
  if (assets?.some((one) => one.network === option.network && one.asset.toLowerCase() === asset)) return true
  const usdt = USDT[option.network]
  return usdt === undefined ? isLoopback(new URL(baseUrl).hostname) : usdt.toLowerCase() === asset
}

const isAddress = (text: string): boolean => /^0x[0-9a-fA-F]{40}$/.test(text)

const canSign = ({ asset, extra, network, payTo, scheme }: ChallengeOption): boolean =>
  scheme === "exact" &&
  extra["assetTransferMethod"] !== "permit2" &&
  // A leading zero would be another name of a chain with a known USDT.
  /^eip155:[1-9]\d{0,14}$/.test(network) &&
  isAddress(asset) &&
  isAddress(payTo)

/**
 * Chooses the first option that can be signed: scheme `exact`, an EVM chain, an accepted token, and the network of the
 * payer if it names one. Throws PAYMENT_UNSUPPORTED.
 */
export const chooseOption = (challenge: Challenge, acceptance: Acceptance): ChallengeOption => {
  const { assets, network } = acceptance
  const candidates = challenge.options.filter(
    (option) => canSign(option) && (network === undefined || option.network === network)
  )
  const option = candidates.find((one) => isAccepted(one, acceptance))
  if (option === undefined) {
    const offered = challenge.options.map((one) => `${one.scheme}, ${one.asset} on ${one.network}`).join("; ")
    throw unsupported(
      candidates.length > 0
        ? `The server asks for a token that is not a known USDT contract (${offered}).${assets === undefined ? " List it in assets to accept it." : ""}`
        : `The server offers no supported payment option (${offered}).`
    )
  }
  if (option.maxTimeoutSeconds > 0 && option.maxTimeoutSeconds <= VALIDITY_SECONDS_MAX) return option
  throw unsupported(
    `The server asks for a payment that is valid for ${option.maxTimeoutSeconds} s; the maximum is 1 hour.`
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
