import { createHmac, randomUUID } from "node:crypto"
import { twilioDate } from "../api/TwilioResource.ts"
import type { Fields, RequestLog } from "../RequestLog.ts"

/**
 * Returns X-Twilio-Signature: the base64 HMAC-SHA1, under the account's auth token, of the complete URL followed by the
 * name and value of each form field in the order of the names. A ConversationRelay handshake is signed over its wss URL
 * only. (https://www.twilio.com/docs/usage/security#validating-requests)
 */
export const twilioSignature = (authToken: string, url: string, fields: Readonly<Record<string, string>>): string => {
  const signed = Object.keys(fields)
    .sort()
    .map((name) => `${name}${fields[name]}`)
  return createHmac("sha1", authToken)
    .update(`${url}${signed.join("")}`)
    .digest("base64")
}

export interface WebhookRequest {
  readonly callSid: string
  /** Identifies the request in the log. */
  readonly purpose: string
  readonly url: string
  readonly method: "GET" | "POST"
  readonly form: Readonly<Record<string, string>>
  readonly signal?: AbortSignal
}

export type WebhookResponse =
  | { readonly _tag: "Succeeded"; readonly body: string }
  /** With a code of Twilio's error dictionary. */
  | { readonly _tag: "Failed"; readonly code: number; readonly message: string }

export type Webhooks = ReturnType<typeof makeWebhooks>

/** Twilio's timeout. */
const timeoutMillis = 15_000
/** Twilio's limit for a TwiML document. */
const bodyBytesMax = 64 * 1_024
/** Twilio's default: one retry, only if the connection failed. */
const attemptsMax = 2

/**
 * Sends forms, or queries for GET, signed with the account's auth token over the exact URL. Redirects are not followed.
 * Like Twilio's, the requests carry an I-Twilio-Idempotency-Token, which a retry repeats.
 */
export const makeWebhooks = (authToken: string, requestLog: RequestLog) => {
  const stopped = new AbortController()

  const attempt = async (
    request: WebhookRequest,
    token: string
  ): Promise<WebhookResponse & { readonly isUnconnected?: boolean }> => {
    const { form, method, url } = request
    const query = new URLSearchParams(form).toString()
    const signedUrl = method === "GET" ? `${url}${url.includes("?") ? "&" : "?"}${query}` : url
    const signals = [stopped.signal, AbortSignal.timeout(timeoutMillis)]
    try {
      const response = await fetch(signedUrl, {
        method,
        redirect: "manual",
        headers: {
          "Content-Type": "application/x-www-form-urlencoded; charset=utf-8",
          "User-Agent": "TwilioProxy/1.1 (sandbox)",
          // A kept-alive connection can be closed just when it is used again, which would look like a failed webhook.
          Connection: "close",
          "I-Twilio-Idempotency-Token": token,
          "X-Twilio-Signature": twilioSignature(authToken, signedUrl, method === "GET" ? {} : form)
        },
        ...(method === "POST" ? { body: query } : {}),
        signal: AbortSignal.any(request.signal === undefined ? signals : [...signals, request.signal])
      })
      const body = await readText(response)
      if (body === undefined) return { _tag: "Failed", code: 11_750, message: "the response is longer than 64 KiB" }
      if (response.ok) return { _tag: "Succeeded", body }
      return { _tag: "Failed", code: 11_200, message: `HTTP status ${response.status}` }
    } catch (error) {
      return { _tag: "Failed", code: 11_205, message: messageOf(error), isUnconnected: isUnconnected(error) }
    }
  }

  /** Never rejects. */
  const send = async (request: WebhookRequest): Promise<WebhookResponse> => {
    const token = randomUUID()
    for (let attempts = 1; ; attempts += 1) {
      if (stopped.signal.aborted) return { _tag: "Failed", code: 11_205, message: "the carrier has stopped" }
      const { isUnconnected: canRetry = false, ...response } = await attempt(request, token)
      const failure = response._tag === "Failed" ? { code: response.code, error: response.message } : {}
      requestLog.event(request.callSid, "webhook", {
        purpose: request.purpose,
        method: request.method,
        url: request.url,
        form: request.form satisfies Fields,
        ...failure
      })
      if (!canRetry || attempts >= attemptsMax) return response
    }
  }
  /** Aborts pending requests and sends no more. */
  const stop = () => stopped.abort()
  return { send, stop }
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

const messageOf = (error: unknown): string => {
  const cause = causeOf(error)
  return cause instanceof Error ? cause.message || cause.name : String(cause)
}

const isUnconnected = (error: unknown): boolean => {
  const cause = causeOf(error)
  return cause instanceof Error && "code" in cause && cause.code === "ECONNREFUSED"
}

export const callEvents = ["initiated", "ringing", "answered", "completed"] as const
export type CallEvent = (typeof callEvents)[number]

/** The webhook for the progress of a call. */
export interface StatusCallbackTarget {
  readonly url: string
  readonly method: "GET" | "POST"
  readonly events: ReadonlyArray<CallEvent>
}

/** Detection of who answers. With a callback, it runs in the background. */
export interface MachineDetection {
  readonly callback: Pick<StatusCallbackTarget, "url" | "method"> | undefined
}

/** Simulates repeated, reordered and lost callbacks. */
export interface CallbackDelivery {
  /** The number of copies of each callback. 0 drops it. */
  readonly copies: number
  /** `reversed` holds the callbacks of a call until its end, then sends the last first. */
  readonly order: "usual" | "reversed"
}

export type StatusCallbacks = ReturnType<typeof makeStatusCallbacks>

/**
 * Sends the progress of a call in order, one request at a time, without delaying the call. Adds the fields of https://www.twilio.com/docs/voice/api/call-resource#statuscallback. The sequence numbers of a call
 * start at 0 and count the callbacks sent.
 */
export const makeStatusCallbacks = (callSid: string, webhooks: Webhooks, delivery: () => CallbackDelivery) => {
  let target: StatusCallbackTarget | undefined
  let sequence = 0
  let queue = Promise.resolve()
  const held: Array<() => Promise<unknown>> = []

  return {
    setTarget: (next: StatusCallbackTarget | undefined): void => {
      target = next
    },
    send: (event: CallEvent, form: Readonly<Record<string, string>>): void => {
      if (target === undefined || !target.events.includes(event)) return
      const { method, url } = target
      const { copies, order } = delivery()
      const fields = {
        ...form,
        Timestamp: twilioDate(Date.now()),
        CallbackSource: "call-progress-events",
        SequenceNumber: String(sequence)
      }
      sequence += 1
      const requests = Array.from({ length: copies }, () => () => {
        return webhooks.send({ callSid, purpose: `status ${event}`, url, method, form: fields })
      })
      held.push(...requests)
      if (order === "reversed" && event !== "completed") return
      const due = held.splice(0)
      if (order === "reversed") due.reverse()
      for (const request of due) queue = queue.then(request).then(() => undefined)
    }
  }
}
