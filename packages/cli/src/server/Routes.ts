import type { OPERATIONS } from "@agentos/api"
import { isRecord } from "../file/Json.ts"
import { shellWord } from "../output/Text.ts"

/** The operations of the API. Types only: loading the schemas takes longer than most commands. */
export type Operations = typeof OPERATIONS
export type OperationName = keyof Operations

export interface Route {
  readonly method: "GET" | "POST"
  /** With `{parameter}` placeholders. */
  readonly path: string
  /** The id in the catalog; null if the catalog has no such service. */
  readonly serviceId: string | null
  /** Whether the request is idempotent, so that it can be retried. */
  readonly repeatable: boolean
  /** The command for the operation, with its required arguments. */
  readonly command: string
}

const get = (path: string, serviceId: string | null, command: string): Route => ({
  method: "GET",
  path: `/api/v1${path}`,
  serviceId,
  repeatable: true,
  command
})
const post = (path: string, serviceId: string | null, command: string): Route => ({
  ...get(path, serviceId, command),
  method: "POST",
  repeatable: false
})
/** A POST that only reads. */
const query = (path: string, serviceId: string, command: string): Route => ({
  ...post(path, serviceId, command),
  repeatable: true
})

/** All operations. The compiler checks the names against the contract, and a test checks the rest against the catalog. */
export const ROUTES: { readonly [Name in OperationName]: Route } = {
  describeApi: get("", "discovery.api", "services list"),
  listServices: get("/services", "discovery.services", "services list"),
  getService: get("/services/{serviceId}", null, "services show SERVICE"),
  createMailbox: post("/email/mailboxes", "email.mailbox.create", "mailbox create LOCALPART"),
  listMailboxes: get("/email/mailboxes/query", "email.mailbox.list", "mailbox list"),
  updateMailbox: post("/email/mailboxes/update", "email.mailbox.update", "mailbox update MAILBOX"),
  deleteMailbox: post("/email/mailboxes/delete", "email.mailbox.delete", "mailbox delete MAILBOX"),
  sendMessage: post("/email/messages/send", "email.message.send", "mail send"),
  queryMessages: get("/email/messages/query", "email.message.query", "mail list"),
  purchaseUsNumber: post("/phone/purchase-us-number-30-days", "phone.number.us.30d", "number buy us"),
  purchaseCanadaNumber: post("/phone/purchase-canada-number-30-days", "phone.number.ca.30d", "number buy ca"),
  renewNumber: post("/phone/renew-number-30-days", "phone.number.renew.30d", "number renew NUMBER"),
  callOneMinute: post("/phone/call-1-minute", "phone.call.outbound.1m", "call start --minutes 1"),
  callFiveMinutes: post("/phone/call-5-minutes", "phone.call.outbound.5m", "call start --minutes 5"),
  extendCall: post("/phone/extend-call-1-minute", "phone.call.extend.1m", "call extend CALL"),
  addInboundMinutes: post("/phone/add-inbound-minutes-10", "phone.call.inbound.add.10m", "number add-minutes NUMBER"),
  releaseNumber: post("/phone/release-number", "phone.number.release", "number release NUMBER"),
  listNumbers: get("/phone/numbers", "phone.number.list", "number list"),
  getCall: get("/phone/calls/{callId}", "phone.call.get", "call show CALL"),
  getTranscript: get("/phone/calls/{callId}/transcript", "phone.call.transcript", "call transcript CALL"),
  getRealtimeToken: get("/events/realtime-token", "events.realtime-token", "events tail"),
  listEvents: query("/events/list", "events.list", "events list"),
  getEvent: query("/events/get", "events.get", "events get EVENT"),
  acknowledgeEvent: post("/events/ack", "events.ack", "events ack EVENT"),
  acknowledgeAllEvents: post("/events/ack-all", "events.ack-all", "events ack-all"),
  replayEvents: get("/events", null, "events list --status pending"),
  acknowledgeEventById: post("/events/{eventId}/acknowledge", null, "events ack EVENT"),
  registerDomain: post("/domains/register", "domain.register", "services list")
}

/** Returns the operation of a method and path. A route without parameters takes precedence. */
export const operationAt = (method: string, path: string): OperationName | undefined => {
  const names = Object.keys(ROUTES) as Array<OperationName>
  const parts = path.split("/")
  const matches = (route: Route): boolean => {
    const pattern = route.path.split("/")
    return (
      route.method === method &&
      pattern.length === parts.length &&
      pattern.every((part, index) => part.startsWith("{") || part === parts[index])
    )
  }
  return names
    .filter((name) => matches(ROUTES[name]))
    .toSorted((left, right) => ROUTES[left].path.split("{").length - ROUTES[right].path.split("{").length)[0]
}

const bodyFields = (body: unknown): string =>
  isRecord(body)
    ? Object.entries(body)
        .map(([name, value]) =>
          shellWord(typeof value === "string" ? `${name}=${value}` : `${name}:=${JSON.stringify(value)}`)
        )
        .map((word) => ` ${word}`)
        .join("")
    : ""

/**
 * Returns the command for a request that the server suggests. Requests that no command covers are made with
 * `agentctl api`. Text of the server is quoted, so that a shell runs nothing else.
 */
export const nextCommand = (next: {
  readonly method: string
  readonly path: string
  readonly body?: unknown
}): string => {
  const operation = operationAt(next.method, next.path)
  if (operation !== undefined) return `agentctl ${ROUTES[operation].command}`
  return `agentctl api ${shellWord(next.method)} ${shellWord(next.path)}${bodyFields(next.body)}`
}
