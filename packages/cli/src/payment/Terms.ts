import { isLocal } from "../config/Settings.ts"
import { EXIT } from "../failure/ExitCode.ts"
import { Failure } from "../failure/Failure.ts"
import { decimalOf, spanOf } from "../output/Wording.ts"
import type { PaymentOption, Quote } from "./Quote.ts"

/**
 * USDT on the networks where it can be paid by authorization, each of 6 decimals. Amounts, limits and budgets are
 * meant in it: 0.25 of another token may be worth a thousand times as much.
 */
const USDT: Readonly<Record<string, string>> = {
  "eip155:196": "0x779Ded0c9e1022225f8E0630b35a9b54bE713736",
  "eip155:42220": "0x48065fbBE25f71C9282ddf5e1cD6D6A887483D5e",
  "eip155:988": "0x779Ded0c9e1022225f8E0630b35a9b54bE713736",
  "eip155:9745": "0xB8CE59FC3717ada4C02eaDF9682A9e934F625ebb",
  "eip155:14": "0xe7cd86e13AC4309349F30B3435a9d337750fC82D"
}

/** A way to pay of a quote, and its place in it. */
export interface Terms {
  readonly quote: Quote
  readonly index: number
  readonly option: PaymentOption
}

export const declined = (message: string, next: ReadonlyArray<string> = []): Failure =>
  new Failure({ code: "PAYMENT_DECLINED", message: `${message} Nothing was signed.`, paymentState: "none", next })

/** A sandbox on this machine has a token of its own, on a chain of its own: on one where USDT is known, that is asked for. */
const isOfSandbox = ({ network }: PaymentOption, baseUrl: string): boolean =>
  isLocal(new URL(baseUrl).hostname) && USDT[network] === undefined

const isKnown = ({ asset, network }: PaymentOption): boolean => USDT[network]?.toLowerCase() === asset.toLowerCase()

const canBeSigned = ({ network, scheme }: PaymentOption): boolean =>
  scheme === "exact" && /^eip155:\d{1,15}$/.test(network)

/** For how long a signed payment may stay good: whoever has it can submit it until then, whatever the server says meanwhile. */
const LONGEST_SECONDS = 3_600

const checkSpan = (terms: Terms): Terms => {
  const { maxTimeoutSeconds } = terms.option
  if (maxTimeoutSeconds <= LONGEST_SECONDS) return terms
  throw declined(
    `The server wants the payment to stay good for ${spanOf(maxTimeoutSeconds)}; that is more than an hour.`
  )
}

/**
 * The first way to pay that this program can sign: of the scheme `exact`, on an EVM chain, in USDT; on the network that
 * was asked for, if one was. Throws PAYMENT_DECLINED where there is none.
 */
export const chooseTerms = (quote: Quote, network: string | undefined, baseUrl: string): Terms => {
  const wanted = quote.options
    .map((option, index) => ({ quote, index, option }))
    .filter(({ option }) => canBeSigned(option) && (network === undefined || option.network === network))
  const terms = wanted.find(({ option }) => isKnown(option) || isOfSandbox(option, baseUrl))
  if (terms !== undefined) return checkSpan(terms)
  const offered = quote.options.map((option) => `${option.scheme} in ${option.asset} on ${option.network}`).join("; ")
  throw declined(
    wanted.length > 0
      ? `The server asks for a token that this program does not know as USDT: ${offered}.`
      : `None of the ways to pay can be used: ${offered}.`
  )
}

/** Throws where a challenge that has just come is over: then it is the clock that is wrong, of this machine most likely. */
export const checkClock = ({ option }: Terms, now: number): void => {
  if (option.expiresAt !== null && option.expiresAt <= now)
    throw declined("By this machine's clock the quote was over when it came: the clock is fast.", ["agentctl doctor"])
}

/** Throws where the challenge is over, or about to be. */
export const checkFresh = ({ option }: Terms, now: number): void => {
  if (option.expiresAt !== null && option.expiresAt <= now)
    throw declined("The quote is over: it was good until a moment ago. Run the command again for a new one.")
}

/** Throws where what is to be paid is more than the limit that was given with the command. */
export const checkMaximum = ({ option }: Terms, maximum: bigint | undefined): void => {
  if (maximum !== undefined && option.baseUnits > maximum)
    throw new Failure({
      code: "OVER_BUDGET",
      exit: EXIT.payment,
      message: `It costs ${decimalOf(option.baseUnits)} USDT, and --max-amount is ${decimalOf(maximum)}. Nothing was signed.`,
      paymentState: "none"
    })
}
