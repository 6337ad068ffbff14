import type { OPERATIONS } from "@agentos/api"

/** The operations of the API. Only their types are used: loading the schemas takes longer than most commands. */
export type Operations = typeof OPERATIONS
export type OperationName = keyof Operations

/** Where an operation is. */
export interface Route {
  readonly method: "GET" | "POST"
  /** With `{parameter}` for the parts that vary. */
  readonly path: string
  /** Null where the catalog has no service for it. */
  readonly serviceId: string | null
  /** Whether doing it twice is the same as doing it once, so that it may be sent again. */
  readonly repeatable: boolean
}

const read = (path: string, serviceId: string | null): Route => ({ method: "GET", path, serviceId, repeatable: true })
const lookUp = (path: string, serviceId: string | null): Route => ({
  method: "POST",
  path,
  serviceId,
  repeatable: true
})
const act = (path: string, serviceId: string | null): Route => ({ method: "POST", path, serviceId, repeatable: false })

/** Every operation of the contract and no other, which the compiler checks; a test holds the rest against the catalog. */
export const ROUTES: { readonly [Name in OperationName]: Route } = {
  describeApi: read("/api/v1", "discovery.api"),
  listServices: read("/api/v1/services", "discovery.services"),
  getService: read("/api/v1/services/{serviceId}", null),
  createMailbox: act("/api/v1/email/mailboxes", "email.mailbox.create"),
  listMailboxes: read("/api/v1/email/mailboxes/query", "email.mailbox.list"),
  updateMailbox: act("/api/v1/email/mailboxes/update", "email.mailbox.update"),
  deleteMailbox: act("/api/v1/email/mailboxes/delete", "email.mailbox.delete"),
  sendMessage: act("/api/v1/email/messages/send", "email.message.send"),
  queryMessages: read("/api/v1/email/messages/query", "email.message.query"),
  purchaseUsNumber: act("/api/v1/phone/purchase-us-number-30-days", "phone.number.us.30d"),
  purchaseCanadaNumber: act("/api/v1/phone/purchase-canada-number-30-days", "phone.number.ca.30d"),
  renewNumber: act("/api/v1/phone/renew-number-30-days", "phone.number.renew.30d"),
  callOneMinute: act("/api/v1/phone/call-1-minute", "phone.call.outbound.1m"),
  callFiveMinutes: act("/api/v1/phone/call-5-minutes", "phone.call.outbound.5m"),
  extendCall: act("/api/v1/phone/extend-call-1-minute", "phone.call.extend.1m"),
  addInboundMinutes: act("/api/v1/phone/add-inbound-minutes-10", "phone.call.inbound.add.10m"),
  releaseNumber: act("/api/v1/phone/release-number", "phone.number.release"),
  listNumbers: read("/api/v1/phone/numbers", "phone.number.list"),
  getCall: read("/api/v1/phone/calls/{callId}", "phone.call.get"),
  getTranscript: read("/api/v1/phone/calls/{callId}/transcript", "phone.call.transcript"),
  getRealtimeToken: read("/api/v1/events/realtime-token", "events.realtime-token"),
  listEvents: lookUp("/api/v1/events/list", "events.list"),
  getEvent: lookUp("/api/v1/events/get", "events.get"),
  acknowledgeEvent: act("/api/v1/events/ack", "events.ack"),
  acknowledgeAllEvents: act("/api/v1/events/ack-all", "events.ack-all"),
  replayEvents: read("/api/v1/events", null),
  acknowledgeEventById: act("/api/v1/events/{eventId}/acknowledge", null),
  registerDomain: act("/api/v1/domains/register", "domain.register")
}

/** The operation at a method and path, if there is one. */
export const operationAt = (method: string, path: string): OperationName | undefined => {
  const names = Object.keys(ROUTES) as Array<OperationName>
  const parts = path.split("/")
  const fits = (route: Route): boolean => {
    const pattern = route.path.split("/")
    return (
      route.method === method &&
      pattern.length === parts.length &&
      pattern.every((part, index) => part.startsWith("{") || part === parts[index])
    )
  }
  // A fixed path before one with parameters.
  return names
    .filter((name) => fits(ROUTES[name]))
    .toSorted((left, right) => ROUTES[left].path.split("{").length - ROUTES[right].path.split("{").length)[0]
}

/** The route of a service of the catalog, if this version knows it. */
export const routeOfService = (serviceId: string): Route | undefined =>
  Object.values(ROUTES).find((route) => route.serviceId === serviceId)
