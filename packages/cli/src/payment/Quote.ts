import { decimalOf, isLoopback } from "@agentos/client/internal"
import { EXIT, Failure } from "@agentos/command-line"
import { isRecord, parseJson } from "../file/Json.ts"
import { durationOf } from "../output/Wording.ts"
import type { ApiClient } from "../server/ApiClient.ts"
import { type Answer, apiFailure } from "../server/ApiFailure.ts"

/** One way to pay that a challenge offers (x402 version 2). */
export interface PaymentOption {
  readonly scheme: string
  /** CAIP-2 id of the chain. */
  readonly network: string
  /** Contract address of the token. */
  readonly asset: string
  /** The name of the token in the challenge. */
  readonly assetName: string | null
  readonly baseUnits: bigint
  readonly payTo: string
  readonly maxTimeoutSeconds: number
  /** When the challenge expires, in milliseconds since 1970; null if it does not say. */
  readonly expiresAt: number | null
}

/** The price of a call. Nothing is signed yet. */
export interface Quote {
  readonly method: string
  readonly path: string
  /** The exact text of the body. A payment is bound to its bytes. */
  readonly body: string | undefined
  /** The PAYMENT-REQUIRED header as received, which is what is signed. */
  readonly challenge: string
  readonly options: ReadonlyArray<PaymentOption>
}

const CHALLENGE_LIMIT = 65_536

const unreadable = (problem: string): Failure =>
  new Failure({
    code: "UNEXPECTED_ANSWER",
    message: `The payment challenge of the server is invalid: ${problem}. Nothing was charged.`
  })

/** Accepts Unix seconds and milliseconds. The limit is the year 5138 in seconds and 1973 in milliseconds. */
const expiryIn = ({ expiresAt }: Readonly<Record<string, unknown>>): number | null => {
  if (typeof expiresAt !== "number" || !Number.isFinite(expiresAt)) return null
  return expiresAt < 1e11 ? expiresAt * 1_000 : expiresAt
}

const optionOf = (value: unknown): PaymentOption => {
  if (!isRecord(value)) throw unreadable("an option is not an object")
  const { amount, asset, extra, maxTimeoutSeconds, network, payTo, scheme } = value
  if (
    typeof scheme !== "string" ||
    typeof network !== "string" ||
    typeof asset !== "string" ||
    typeof payTo !== "string"
  )
    throw unreadable("an option lacks scheme, network, asset or payTo")
  if (typeof amount !== "string" || !/^\d{1,78}$/.test(amount)) throw unreadable("an amount is not an integer")
  if (typeof maxTimeoutSeconds !== "number") throw unreadable("an option lacks maxTimeoutSeconds")
  const more = isRecord(extra) ? extra : {}
  return {
    scheme,
    network,
    asset,
    assetName: typeof more["name"] === "string" ? more["name"] : null,
    baseUnits: BigInt(amount),
    payTo,
    maxTimeoutSeconds,
    expiresAt: expiryIn(more)
  }
}

/** Parses a PAYMENT-REQUIRED header of x402 version 2. */
export const readChallenge = (header: string): ReadonlyArray<PaymentOption> => {
  if (header.length > CHALLENGE_LIMIT) throw unreadable("it is too long")
  const json = parseJson(Buffer.from(header, "base64").toString("utf8"))
  if (json === undefined) throw unreadable("it is not base64-encoded JSON")
  if (!isRecord(json) || json["x402Version"] !== 2) throw unreadable("it is not x402 version 2")
  const { accepts } = json
  if (!Array.isArray(accepts) || accepts.length === 0) throw unreadable("it offers no payment option")
  return accepts.map(optionOf)
}

/** Sends a call without a payment and returns its price. Throws any other obstacle to the call. */
export const requestQuote = async (
  client: ApiClient,
  call: { readonly method: string; readonly path: string; readonly body: string | undefined }
): Promise<Quote> => {
  const answer = await client.send({ ...call, repeatable: true })
  const challenge = answer.status === 402 ? answer.headers.get("payment-required") : null
  if (challenge === null) throw withoutChallenge(answer, client.baseUrl)
  return { ...call, challenge, options: readChallenge(challenge) }
}

const withoutChallenge = (answer: Answer, baseUrl: string): Failure => {
  const envelope = answer.json()
  return answer.status >= 200 && answer.status < 300 && isRecord(envelope) && "data" in envelope
    ? new Failure({
        code: "UNEXPECTED_ANSWER",
        exit: EXIT.failure,
        message: "The server executed the call without a payment.",
        requestId: answer.requestId
      })
    : apiFailure(answer, baseUrl)
}

/**
 * The contracts of USDT, with 6 decimals, on the networks where it supports authorizations. Amounts, limits and budgets
 * are in USDT: 0.25 of another token could be worth a thousand times as much.
 */
const USDT: Readonly<Record<string, string>> = {
  "eip155:196": "0x779Ded0c9e1022225f8E0630b35a9b54bE713736",
  "eip155:42220": "0x48065fbBE25f71C9282ddf5e1cD6D6A887483D5e",
  "eip155:988": "0x779Ded0c9e1022225f8E0630b35a9b54bE713736",
  "eip155:9745": "0xB8CE59FC3717ada4C02eaDF9682A9e934F625ebb",
  "eip155:14": "0xe7cd86e13AC4309349F30B3435a9d337750fC82D"
}

/** The chosen option of a quote, with its index in the challenge. */
export interface Terms {
  readonly quote: Quote
  readonly index: number
  readonly option: PaymentOption
}

export const declined = (message: string, next: ReadonlyArray<string> = []): Failure =>
  new Failure({ code: "PAYMENT_DECLINED", message: `${message} Nothing was signed.`, paymentState: "none", next })

/** A sandbox on this machine has its own chain and token. On a chain with a known USDT, that token is required. */
const isSandboxToken = ({ network }: PaymentOption, baseUrl: string): boolean =>
  isLoopback(new URL(baseUrl).hostname) && USDT[network] === undefined

const isUsdt = ({ asset, network }: PaymentOption): boolean => USDT[network]?.toLowerCase() === asset.toLowerCase()

const canSign = ({ network, scheme }: PaymentOption): boolean => scheme === "exact" && /^eip155:\d{1,15}$/.test(network)

/** The longest validity of a signed payment. Until it expires, anyone who has it can submit it. */
const MAX_VALIDITY_SECONDS = 3_600

/**
 * Chooses the first option that agentctl can sign: scheme `exact`, an EVM chain, USDT, and the requested network if one is
 * given. Throws PAYMENT_DECLINED if no option matches.
 */
export const chooseTerms = (quote: Quote, network: string | undefined, baseUrl: string): Terms => {
  const candidates = quote.options
    .map((option, index) => ({ quote, index, option }))
    .filter(({ option }) => canSign(option) && (network === undefined || option.network === network))
  const terms = candidates.find(({ option }) => isUsdt(option) || isSandboxToken(option, baseUrl))
  if (terms === undefined) {
    const offered = quote.options.map((option) => `${option.scheme}, ${option.asset} on ${option.network}`).join("; ")
    throw declined(
      candidates.length > 0
        ? `The server asks for a token that is not a known USDT contract (${offered}).`
        : `The server offers no supported payment option (${offered}).`
    )
  }
  const { maxTimeoutSeconds } = terms.option
  if (maxTimeoutSeconds <= MAX_VALIDITY_SECONDS) return terms
  throw declined(
    `The server asks for a payment that is valid for ${durationOf(maxTimeoutSeconds)}; the maximum is 1 hour.`
  )
}

/** Throws if a new challenge has already expired, most likely because the clock of this machine is wrong. */
export const checkClock = ({ option }: Terms, now: number): void => {
  if (option.expiresAt !== null && option.expiresAt <= now)
    throw declined("The quote is already expired by the clock of this machine, which is probably fast.", [
      "agentctl doctor"
    ])
}

/** Throws if the challenge has expired, for example while the user was asked. */
export const checkFresh = ({ option }: Terms, now: number): void => {
  if (option.expiresAt !== null && option.expiresAt <= now)
    throw declined("The quote has expired. Run the command again for a new one.")
}

/** Throws OVER_BUDGET if the price is above --max-amount. */
export const checkMaximum = ({ option }: Terms, maximum: bigint | undefined): void => {
  if (maximum !== undefined && option.baseUnits > maximum)
    throw new Failure({
      code: "OVER_BUDGET",
      exit: EXIT.payment,
      message: `The price is ${decimalOf(option.baseUnits)} USDT, but --max-amount is ${decimalOf(maximum)}. Nothing was signed.`,
      paymentState: "none"
    })
}
