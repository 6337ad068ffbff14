import { shellWord } from "@agentos/node/command-line"
import type { OPERATIONS } from "@agentos/api"
import { CATALOG_ROWS } from "@agentos/api/catalog"
import { isRecord } from "../file/Json.ts"

/** The operations of the API. Types only: loading the schemas takes longer than most commands. */
export type Operations = typeof OPERATIONS
export type OperationName = keyof Operations

export interface Route {
  readonly method: "GET" | "POST" | "DELETE"
  /** With `{parameter}` placeholders. */
  readonly path: string
  /** The id in the catalog; null if the catalog has no such service. */
  readonly serviceId: string | null
  /** Whether the request is idempotent, so that it can be retried. */
  readonly repeatable: boolean
  /** The command for the operation, with its required arguments, or null. */
  readonly command: string | null
}

/** The command for each operation, with its required arguments. Other operations are called with `agentctl api`. */
const COMMANDS: { readonly [Name in OperationName]?: string } = {
  describeApi: "services list",
  listServices: "services list",
  getService: "services show SERVICE",
  createMailbox: "mailbox create LOCALPART",
  listMailboxes: "mailbox list",
  updateMailbox: "mailbox update MAILBOX",
  deleteMailbox: "mailbox delete MAILBOX",
  sendMessage: "mail send",
  queryMessages: "mail list",
  queryThreads: "mail threads",
  updateMessages: "mail label MESSAGE",
  cancelMessage: "mail cancel MESSAGE",
  getAttachment: "mail attachments MESSAGE",
  getRawMessage: "mail raw MESSAGE",
  listSuppressions: "mail suppressions list",
  liftSuppression: "mail suppressions lift ADDRESS",
  purchaseUsNumber: "number buy us",
  purchaseCanadaNumber: "number buy ca",
  renewNumber: "number renew NUMBER",
  callOneMinute: "call start --minutes 1",
  callFiveMinutes: "call start --minutes 5",
  extendCall: "call extend CALL",
  addInboundMinutes: "number add-minutes NUMBER",
  releaseNumber: "number release NUMBER",
  listNumbers: "number list",
  listCalls: "call list",
  listVoices: "number voices",
  getCall: "call show CALL",
  getTranscript: "call transcript CALL",
  getRealtimeToken: "events tail",
  listEvents: "events list",
  getEvent: "events get EVENT",
  acknowledgeEvent: "events ack EVENT",
  acknowledgeAllEvents: "events ack-all",
  replayEvents: "events list --status pending",
  acknowledgeEventById: "events ack EVENT",
  setEventWebhook: "webhook set URL",
  getEventWebhook: "webhook show",
  deleteEventWebhook: "webhook delete",
  listWebhookDeliveries: "webhook log",
  registerDomain: "services list",
  recoverToken: "login --wallet",
  revokeTokens: "token rotate",
  listPaymentNetworks: "wallet balance",
  readPaymentStatus: "payments status PAYMENT",
  listLimits: "limits"
}

/** The operations that only read, although their method is POST. */
const POST_QUERIES: ReadonlySet<OperationName> = new Set(["listEvents", "getEvent", "readPaymentStatus"])

const toRoute = ({ method, operationId, path, serviceId }: (typeof CATALOG_ROWS)[number]): Route => ({
  method,
  path,
  serviceId,
  repeatable: method === "GET" || POST_QUERIES.has(operationId),
  command: COMMANDS[operationId] ?? null
})

export const ROUTES = Object.fromEntries(CATALOG_ROWS.map((row) => [row.operationId, toRoute(row)])) as {
  readonly [Name in OperationName]: Route
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
  const command = operation === undefined ? null : ROUTES[operation].command
  if (command !== null) return `agentctl ${command}`
  return `agentctl api ${shellWord(next.method)} ${shellWord(next.path)}${bodyFields(next.body)}`
}
