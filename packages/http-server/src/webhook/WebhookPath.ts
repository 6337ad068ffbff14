import { WEBHOOK_ROOT, WEBHOOK_ROUTES } from "@agentos/provider-twilio"

/** Longest form of the carrier's, in bytes: what it tells of a call takes two thousand or so. */
export const FORM_LIMIT_BYTES = 16 * 1024

/** Whether the carrier calls there. */
export const isWebhook = (path: string): boolean => path.startsWith(`${WEBHOOK_ROOT}/`)

const RELAY = WEBHOOK_ROUTES.relay.replace(/:\w+$/, "")

/** Whether a relay's socket is there. */
export const isRelay = (path: string): boolean => path.startsWith(RELAY) && !path.slice(RELAY.length).includes("/")

/** The token in the path of a relay. */
export const relayTokenOf = (path: string): string => path.slice(RELAY.length)

/** A path as a log may have it: what follows a relay's is, or may be, a secret. */
export const shownPath = (path: string): string => (path.startsWith(RELAY) ? `${RELAY}{token}` : path)

/** The paths as a table of routes writes them: `/webhooks/twilio/status/{callId}`. */
export const WEBHOOK_TEMPLATES: ReadonlyArray<string> = Object.values(WEBHOOK_ROUTES).map((route) =>
  route.replace(/:(\w+)$/, "{$1}")
)
