import { Redacted } from "effect"

/** Under which all of Twilio's requests arrive. */
export const WEBHOOK_ROOT = "/webhooks/twilio"

/**
 * Where Twilio calls. Paths in the notation of the router; each request is a POST of a form, but for the relay, which is
 * a WebSocket.
 */
export const WEBHOOK_ROUTES = {
  /** Somebody calls one of our numbers. */
  voice: `${WEBHOOK_ROOT}/voice`,
  /** An inbound call has ended: of which number and call the form says. */
  inboundStatus: `${WEBHOOK_ROOT}/status`,
  /** Somebody whom we called answers. */
  answer: `${WEBHOOK_ROOT}/answer/:callId`,
  /** How a call goes that we placed. */
  status: `${WEBHOOK_ROOT}/status/:callId`,
  /** The relay of a call came to its end. */
  resume: `${WEBHOOK_ROOT}/resume/:callId`,
  /** The socket of a call's relay. The token is a secret: keep it out of logs. */
  relay: `${WEBHOOK_ROOT}/relay/:token`
} as const

/** The addresses that Twilio is given, as it calls and signs them. */
export interface WebhookAddresses {
  readonly voice: string
  readonly inboundStatus: string
  readonly answer: (callId: string) => string
  readonly status: (callId: string) => string
  readonly resume: (callId: string) => string
  /** `wss://`, or `ws://` where the public URL is `http://`. */
  readonly relay: (token: Redacted.Redacted) => string
}

/** The addresses under the URL at which Twilio reaches this service. */
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
