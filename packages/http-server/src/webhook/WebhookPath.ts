import { WEBHOOK_ROOT, WEBHOOK_ROUTES } from "@agentos/provider-twilio"

/** Maximum length of the carrier's forms, in bytes. A report about a call takes about two thousand. */
export const FORM_LIMIT_BYTES = 16 * 1024

/** Returns whether the path is a webhook of the carrier. */
export const isWebhook = (path: string): boolean => path.startsWith(`${WEBHOOK_ROOT}/`)

const RELAY = WEBHOOK_ROUTES.relay.replace(/:\w+$/, "")

/** Returns whether the path is a relay's. */
export const isRelay = (path: string): boolean => path.startsWith(RELAY) && !path.slice(RELAY.length).includes("/")

/** Returns the token in the path of a relay. */
export const relayTokenOf = (path: string): string => path.slice(RELAY.length)

/** Returns the path for a log, without the part after a relay's prefix, which is or may be a secret. */
export const shownPath = (path: string): string => (path.startsWith(RELAY) ? `${RELAY}{token}` : path)

/** The paths as route templates: `/webhooks/twilio/status/{callId}`. */
export const WEBHOOK_TEMPLATES: ReadonlyArray<string> = Object.values(WEBHOOK_ROUTES).map((route) =>
  route.replace(/:(\w+)$/, "{$1}")
)
