import { findCommand } from "../command/CommandTree.ts"
import { isRecord } from "../file/JsonValue.ts"
import { shellWord } from "../output/ShellWord.ts"
import { operationAt, type OperationName, ROUTES } from "./Routes.ts"

/** The command of an operation, with the arguments that it needs. */
const COMMAND_OF: { readonly [Name in OperationName]: readonly [name: string, rest: string] } = {
  describeApi: ["services list", ""],
  listServices: ["services list", ""],
  getService: ["services show", "SERVICE"],
  createMailbox: ["mailbox create", "LOCALPART"],
  listMailboxes: ["mailbox list", ""],
  updateMailbox: ["mailbox update", "MAILBOX"],
  deleteMailbox: ["mailbox delete", "MAILBOX"],
  sendMessage: ["mail send", ""],
  queryMessages: ["mail list", ""],
  purchaseUsNumber: ["number buy", "us"],
  purchaseCanadaNumber: ["number buy", "ca"],
  renewNumber: ["number renew", "NUMBER"],
  callOneMinute: ["call start", "--minutes 1"],
  callFiveMinutes: ["call start", "--minutes 5"],
  extendCall: ["call extend", "CALL"],
  addInboundMinutes: ["number add-minutes", "NUMBER"],
  releaseNumber: ["number release", "NUMBER"],
  listNumbers: ["number list", ""],
  getCall: ["call show", "CALL"],
  getTranscript: ["call transcript", "CALL"],
  getRealtimeToken: ["events tail", ""],
  listEvents: ["events list", ""],
  getEvent: ["events get", "EVENT"],
  acknowledgeEvent: ["events ack", "EVENT"],
  acknowledgeAllEvents: ["events ack-all", ""],
  replayEvents: ["events list", "--status pending"],
  acknowledgeEventById: ["events ack", "EVENT"],
  registerDomain: ["services list", ""]
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
 * The command that makes the call which an error names. Where there is none for
 * it, one that costs something is quoted, and any other made with `agentctl api`. Whoever
 * runs it runs no more than that: what the server says is quoted.
 */
export const nextCommand = (next: {
  readonly method: string
  readonly path: string
  readonly body?: unknown
}): string => {
  const operation = operationAt(next.method, next.path)
  if (operation !== undefined) {
    const [name, rest] = COMMAND_OF[operation]
    if (findCommand(name) !== undefined) return `agentctl ${name}${rest === "" ? "" : ` ${rest}`}`
    const { repeatable, serviceId } = ROUTES[operation]
    if (!repeatable && serviceId !== null) return `agentctl quote ${serviceId}${bodyFields(next.body)}`
  }
  return `agentctl api ${shellWord(next.method)} ${shellWord(next.path)}${bodyFields(next.body)}`
}
