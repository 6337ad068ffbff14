import { isRecord } from "../file/JsonValue.ts"
import { EXIT } from "../failure/ExitCode.ts"
import { Failure } from "../failure/Failure.ts"
import { apiFailure } from "../server/ApiFailure.ts"
import type { ApiClient } from "../server/ApiClient.ts"
import type { Answer } from "../server/Exchange.ts"

/** One way to pay, as the challenge offers it (x402 version 2, scheme `exact`). */
export interface PaymentOption {
  readonly scheme: string
  /** CAIP-2 id of the chain. */
  readonly network: string
  /** Address of the token's contract. */
  readonly asset: string
  /** What the token calls itself, where the challenge says it. */
  readonly assetName: string | null
  readonly baseUnits: bigint
  readonly payTo: string
  readonly maxTimeoutSeconds: number
  /** When the challenge is over, in milliseconds since 1970; null where it does not say. */
  readonly expiresAt: number | null
}

/** A call that would cost something, and what. Nothing of it is signed or sent as a payment. */
export interface Quote {
  readonly method: string
  readonly path: string
  /** The exact text of the body; a payment is bound to its bytes. */
  readonly body: string | undefined
  /** The PAYMENT-REQUIRED header as it came: what is to be paid is read from this and nothing else. */
  readonly challenge: string
  readonly options: ReadonlyArray<PaymentOption>
}

const CHALLENGE_LIMIT = 65_536

const unreadable = (what: string): Failure =>
  new Failure({
    code: "UNEXPECTED_ANSWER",
    message: `The server's payment challenge can't be read: ${what}. Nothing was charged.`
  })

/** Unix seconds or milliseconds: a challenge is not read in the next three thousand years, nor was one in 1973. */
const momentIn = ({ expiresAt }: Readonly<Record<string, unknown>>): number | null => {
  if (typeof expiresAt !== "number" || !Number.isFinite(expiresAt)) return null
  return expiresAt < 1e11 ? expiresAt * 1_000 : expiresAt
}

const optionOf = (value: unknown): PaymentOption => {
  if (!isRecord(value)) throw unreadable("an option is no object")
  const { amount, asset, extra, maxTimeoutSeconds, network, payTo, scheme } = value
  if (
    typeof scheme !== "string" ||
    typeof network !== "string" ||
    typeof asset !== "string" ||
    typeof payTo !== "string"
  )
    throw unreadable("an option lacks scheme, network, asset or payTo")
  if (typeof amount !== "string" || !/^\d{1,78}$/.test(amount)) throw unreadable("an amount is no whole number")
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
    expiresAt: momentIn(more)
  }
}

/** Reads a PAYMENT-REQUIRED header. Throws a Failure where it is not of x402 version 2. */
export const readChallenge = (header: string): ReadonlyArray<PaymentOption> => {
  if (header.length > CHALLENGE_LIMIT) throw unreadable("it is too long")
  let json: unknown
  try {
    json = JSON.parse(Buffer.from(header, "base64").toString("utf8"))
  } catch {
    throw unreadable("it is not base64 of JSON")
  }
  if (!isRecord(json) || json["x402Version"] !== 2) throw unreadable("it is not of x402 version 2")
  const { accepts } = json
  if (!Array.isArray(accepts) || accepts.length === 0) throw unreadable("it offers no way to pay")
  return accepts.map(optionOf)
}

/** Sends a call without a payment. Gives the quote where it costs something; throws what else is in its way. */
export const askQuote = async (
  client: ApiClient,
  call: { readonly method: string; readonly path: string; readonly body: string | undefined }
): Promise<Quote> => {
  const answer = await client.send({ ...call, repeatable: true })
  const challenge = answer.status === 402 ? answer.headers.get("payment-required") : null
  if (challenge === null) throw refusal(answer, client.baseUrl)
  return { ...call, challenge, options: readChallenge(challenge) }
}

const refusal = (answer: Answer, baseUrl: string): Failure => {
  const envelope = answer.json()
  return answer.status >= 200 && answer.status < 300 && isRecord(envelope) && "data" in envelope
    ? new Failure({
        code: "UNEXPECTED_ANSWER",
        exit: EXIT.failure,
        message: "The server carried the call out without asking for a payment.",
        requestId: answer.requestId
      })
    : apiFailure(answer, baseUrl)
}
