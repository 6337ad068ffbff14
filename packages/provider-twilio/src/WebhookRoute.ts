import { Redacted } from "effect"

/** The prefix of all paths that Twilio requests. */
export const WEBHOOK_ROOT = "/webhooks/twilio"

/**
 * The routes that Twilio requests, in the notation of the router. Each request is a POST of a form, except the
 * relay, which is a WebSocket.
 */
export const WEBHOOK_ROUTES = {
  /** An inbound call to one of our numbers. */
  voice: `${WEBHOOK_ROOT}/voice`,
  /** An inbound call has ended: the form names its number and call. */
  inboundStatus: `${WEBHOOK_ROOT}/status`,
  /** An outbound call was answered. */
  answer: `${WEBHOOK_ROOT}/answer/:callId`,
  /** Status of an outbound call. */
  status: `${WEBHOOK_ROOT}/status/:callId`,
  /** The relay session of a call has ended. */
  resume: `${WEBHOOK_ROOT}/resume/:callId`,
  /** The socket of a call's relay. The token is a secret: keep it out of logs. */
  relay: `${WEBHOOK_ROOT}/relay/:token`
} as const

/** The URLs given to Twilio, in the form in which it requests and signs them. */
export interface WebhookAddresses {
  readonly voice: string
  readonly inboundStatus: string
  readonly answer: (callId: string) => string
  readonly status: (callId: string) => string
  readonly resume: (callId: string) => string
  /** `wss://`, or `ws://` if the public URL is `http://`. */
  readonly relay: (token: Redacted.Redacted) => string
}

/** Returns the URLs below the public URL at which Twilio reaches this service. */
export const webhookAddresses = (publicUrl: string): WebhookAddresses => {
  const base = publicUrl.replace(/\/+$/, "")
  const withId = (route: string) => (id: string) => `${base}${route.replace(/:\w+$/, () => encodeURIComponent(id))}`
  const relay = withId(WEBHOOK_ROUTES.relay)
  return {
    voice: `${base}${WEBHOOK_ROUTES.voice}`,
    inboundStatus: `${base}${WEBHOOK_ROUTES.inboundStatus}`,
    answer: withId(WEBHOOK_ROUTES.answer),
    status: withId(WEBHOOK_ROUTES.status),
    resume: withId(WEBHOOK_ROUTES.resume),
    relay: (token) => relay(Redacted.value(token)).replace(/^http/i, "ws")
  }
}
