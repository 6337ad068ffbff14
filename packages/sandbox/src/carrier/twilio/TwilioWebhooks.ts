import { randomUUID } from "node:crypto"
import type { Fields, Journal } from "../Journal.ts"
import { twilioSignature } from "./TwilioSignature.ts"

/** A request to the account's own side. */
export interface Webhook {
  readonly callSid: string
  /** What it is for, in the journal. */
  readonly purpose: string
  readonly url: string
  readonly method: "GET" | "POST"
  readonly form: Readonly<Record<string, string>>
  readonly signal?: AbortSignal
}

export type WebhookAnswer =
  | { readonly _tag: "Answered"; readonly body: string }
  /** With the code of Twilio's dictionary. */
  | { readonly _tag: "Failed"; readonly code: number; readonly message: string }

export interface TwilioWebhooks {
  /** Never rejects. */
  readonly send: (webhook: Webhook) => Promise<WebhookAnswer>
  /** Gives up what is under way, and sends nothing more. */
  readonly stop: () => void
}

/** Twilio waits so long for an answer. */
const timeoutMillis = 15_000
/** The size of a TwiML document at which Twilio gives up. */
const bodyBytesMax = 64 * 1_024
/** Twilio's default: one more try, and only where no connection came about. */
const attemptsMax = 2

/**
 * Sends forms, or queries where the method is GET, signed with the account's auth token over the address exactly as it
 * was given. Redirects are not followed. Real requests carry an I-Twilio-Idempotency-Token too, the same for a retry.
 */
export const makeTwilioWebhooks = (authToken: string, journal: Journal): TwilioWebhooks => {
  const stopped = new AbortController()

  const attempt = async (
    webhook: Webhook,
    token: string
  ): Promise<WebhookAnswer & { readonly unreached?: boolean }> => {
    const { form, method, url } = webhook
    const query = new URLSearchParams(form).toString()
    const address = method === "GET" ? `${url}${url.includes("?") ? "&" : "?"}${query}` : url
    const signals = [stopped.signal, AbortSignal.timeout(timeoutMillis)]
    try {
      const response = await fetch(address, {
        method,
        redirect: "manual",
        headers: {
          "Content-Type": "application/x-www-form-urlencoded; charset=utf-8",
          "User-Agent": "TwilioProxy/1.1 (sandbox)",
          // A connection that is kept may be closed just as it is used again, which is no fault of the account's side.
          Connection: "close",
          "I-Twilio-Idempotency-Token": token,
          "X-Twilio-Signature": twilioSignature(authToken, address, method === "GET" ? {} : form)
        },
        ...(method === "POST" ? { body: query } : {}),
        signal: AbortSignal.any(webhook.signal === undefined ? signals : [...signals, webhook.signal])
      })
      const body = await readText(response)
      if (body === undefined) return { _tag: "Failed", code: 11_750, message: "the answer is over 64 KiB" }
      if (response.ok) return { _tag: "Answered", body }
      return { _tag: "Failed", code: 11_200, message: `HTTP status ${response.status}` }
    } catch (error) {
      return { _tag: "Failed", code: 11_205, message: reasonOf(error), unreached: isUnreached(error) }
    }
  }

  const send = async (webhook: Webhook): Promise<WebhookAnswer> => {
    const token = randomUUID()
    for (let attempts = 1; ; attempts += 1) {
      if (stopped.signal.aborted) return { _tag: "Failed", code: 11_205, message: "the carrier has stopped" }
      const { unreached = false, ...answer } = await attempt(webhook, token)
      const failure = answer._tag === "Failed" ? { code: answer.code, error: answer.message } : {}
      journal.event(webhook.callSid, "webhook", {
        purpose: webhook.purpose,
        method: webhook.method,
        url: webhook.url,
        form: webhook.form satisfies Fields,
        ...failure
      })
      if (!unreached || attempts >= attemptsMax) return answer
    }
  }
  return { send, stop: () => stopped.abort() }
}

const readText = async (response: Response): Promise<string | undefined> => {
  const chunks: Array<Uint8Array> = []
  let length = 0
  for await (const chunk of response.body ?? []) {
    length += chunk.length
    if (length > bodyBytesMax) return undefined
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString()
}

const causeOf = (error: unknown): unknown => (error instanceof Error ? (error.cause ?? error) : error)

const reasonOf = (error: unknown): string => {
  const cause = causeOf(error)
  return cause instanceof Error ? cause.message || cause.name : String(cause)
}

const isUnreached = (error: unknown): boolean => {
  const cause = causeOf(error)
  return cause instanceof Error && "code" in cause && cause.code === "ECONNREFUSED"
}
