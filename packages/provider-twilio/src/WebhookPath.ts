import { Redacted } from "effect"

const ROOT = "/webhooks/twilio"

/** The paths that Twilio requests. Each request is a POST of a form, except the relay, which is a WebSocket. */
export const WEBHOOK_PATHS = {
  /** An inbound call to one of our numbers. */
  voice: `${ROOT}/voice`,
  /** An inbound call has ended: the form names its number and call. */
  inboundStatus: `${ROOT}/status`,
  /** An outbound call was answered. */
  answer: `${ROOT}/answer/{callId}`,
  /** Status of an outbound call. */
  status: `${ROOT}/status/{callId}`,
  /** An outbound call was recognized as answered by a person, a machine or a fax. */
  recognized: `${ROOT}/recognized/{callId}`,
  /** The relay session of a call has ended. */
  resume: `${ROOT}/resume/{callId}`,
  /** The socket of a call's relay. The token is a secret. */
  relay: `${ROOT}/relay/{token}`
} as const

/** The URLs given to Twilio, in the form in which it requests and signs them. */
export interface WebhookAddresses {
  readonly voice: string
  readonly inboundStatus: string
  readonly answer: (callId: string) => string
  readonly status: (callId: string) => string
  readonly recognized: (callId: string) => string
  readonly resume: (callId: string) => string
  /** `wss://`, or `ws://` if the public URL is `http://`. */
  readonly relay: (token: Redacted.Redacted) => string
}

/** Returns the URLs below the public URL at which Twilio reaches this service. */
export const webhookAddresses = (publicUrl: string): WebhookAddresses => {
  const base = publicUrl.replace(/\/+$/, "")
  const withId = (path: string) => (id: string) => `${base}${path.replace(/\{\w+\}$/, () => encodeURIComponent(id))}`
  const relay = withId(WEBHOOK_PATHS.relay)
  return {
    voice: `${base}${WEBHOOK_PATHS.voice}`,
    inboundStatus: `${base}${WEBHOOK_PATHS.inboundStatus}`,
    answer: withId(WEBHOOK_PATHS.answer),
    status: withId(WEBHOOK_PATHS.status),
    recognized: withId(WEBHOOK_PATHS.recognized),
    resume: withId(WEBHOOK_PATHS.resume),
    relay: (token) => relay(Redacted.value(token)).replace(/^http/i, "ws")
  }
}
