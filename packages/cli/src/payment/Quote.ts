import {
  type Challenge,
  type ChallengeOption,
  chooseOption,
  dataIn,
  decimalOf,
  expiryOf,
  readChallenge
} from "@agentos/client/internal"
import { EXIT, Failure } from "@agentos/command-line"
import type { ApiClient } from "../server/ApiClient.ts"
import { apiFailure, failingWith, requestIdOf } from "../server/ApiFailure.ts"

/** The price of a call. Nothing is signed yet. */
export interface Quote {
  readonly method: string
  readonly path: string
  /** The exact text of the body. A payment is bound to its bytes. */
  readonly body: string | undefined
  readonly challenge: Challenge
}

/** Returns the name of the token in the challenge; null without one. */
export const tokenNameOf = ({ extra: { name } }: ChallengeOption): string | null =>
  typeof name === "string" ? name : null

/** Sends a call without a payment and returns its price. Throws any other obstacle to the call. */
export const requestQuote = async (
  client: ApiClient,
  call: { readonly method: string; readonly path: string; readonly body: string | undefined }
): Promise<Quote> => {
  const answer = await client.send({ ...call, repeatable: true })
  if (dataIn(answer) !== undefined)
    throw new Failure({
      code: "UNEXPECTED_ANSWER",
      message: "The server executed the call without a payment.",
      requestId: requestIdOf(answer)
    })
  const header = answer.status === 402 ? answer.headers.get("payment-required") : null
  if (header === null) throw apiFailure(answer, client.baseUrl)
  return { ...call, challenge: failingWith("UNEXPECTED_ANSWER", () => readChallenge(header)) }
}

/** The chosen option of a quote. */
export interface Terms {
  readonly quote: Quote
  readonly option: ChallengeOption
}

export const declined = (message: string, next: ReadonlyArray<string> = []): Failure =>
  new Failure({ code: "PAYMENT_DECLINED", message: `${message} Nothing was signed.`, paymentState: "none", next })

/** Chooses the first option that agentctl can sign. Throws PAYMENT_DECLINED if no option matches. */
export const chooseTerms = (quote: Quote, network: string | undefined, baseUrl: string): Terms => {
  const option = failingWith("PAYMENT_DECLINED", () => chooseOption(quote.challenge, { assets: [], baseUrl, network }))
  return { quote, option }
}

const hasExpired = ({ option }: Terms, now: number): boolean => {
  const expiresAt = expiryOf(option)
  return expiresAt !== undefined && expiresAt <= now
}

/** Throws if a new challenge has already expired, most likely because the clock of this machine is wrong. */
export const checkClock = (terms: Terms, now: number): void => {
  if (hasExpired(terms, now))
    throw declined("The quote is already expired by the clock of this machine, which is probably fast.", [
      "agentctl doctor"
    ])
}

/** Throws if the challenge has expired, for example while the user was asked. */
export const checkFresh = (terms: Terms, now: number): void => {
  if (hasExpired(terms, now)) throw declined("The quote has expired. Run the command again for a new one.")
}

/** Throws OVER_BUDGET if the price is above --max-amount. */
export const checkMaximum = ({ option }: Terms, maximum: bigint | undefined): void => {
  if (maximum !== undefined && option.amount > maximum)
    throw new Failure({
      code: "OVER_BUDGET",
      exit: EXIT.payment,
      message: `The price is ${decimalOf(option.amount)} USDT, but --max-amount is ${decimalOf(maximum)}. Nothing was signed.`,
      paymentState: "none"
    })
}
