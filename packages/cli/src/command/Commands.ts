import { CommandTree, type ProgramSpec } from "@agentos/node/command-line"
import { GLOBAL_FLAGS } from "../context/Flags.ts"
import { VERSION } from "../Version.ts"
import { MAIL_ATTACHMENTS, MAIL_RAW } from "./AttachmentCommands.ts"
import { CALL_EXTEND, CALL_LIST, CALL_SHOW, CALL_START, CALL_TRANSCRIPT, VOICE_ANSWER } from "./CallCommands.ts"
import { CONFIG_GET, CONFIG_LIST, CONFIG_PATH, CONFIG_SET } from "./ConfigCommands.ts"
import { DEV } from "./DevCommand.ts"
import { DOCTOR } from "./DoctorCommand.ts"
import { EVENTS_ACK, EVENTS_ACK_ALL, EVENTS_GET, EVENTS_LIST, EVENTS_TAIL } from "./EventCommands.ts"
import { MAILBOX_CREATE, MAILBOX_DELETE, MAILBOX_LIST, MAILBOX_UPDATE } from "./MailboxCommands.ts"
import { MAIL_LIST, MAIL_READ, MAIL_WAIT } from "./MailCommands.ts"
import { MCP } from "./McpCommand.ts"
import {
  NUMBER_ADD_MINUTES,
  NUMBER_BUY,
  NUMBER_LIST,
  NUMBER_RELEASE,
  NUMBER_RENEW,
  NUMBER_VOICES
} from "./NumberCommands.ts"
import {
  BUDGET_SET,
  BUDGET_SHOW,
  PAYMENTS_LIST,
  PAYMENTS_RECEIPT,
  PAYMENTS_RESUME,
  PAYMENTS_SHOW,
  PAYMENTS_STATUS
} from "./PaymentCommands.ts"
import { SANDBOX_CALL, SANDBOX_FUND, SANDBOX_MAIL, SANDBOX_OUTBOX, SANDBOX_REPORT } from "./SandboxCommands.ts"
import {
  MAIL_LABEL,
  MAIL_MARK,
  MAIL_SUPPRESSIONS_LIFT,
  MAIL_SUPPRESSIONS_LIST,
  MAIL_THREAD,
  MAIL_THREADS
} from "./OrganizeCommands.ts"
import { MAIL_CANCEL, MAIL_FORWARD, MAIL_REPLY, MAIL_SEND } from "./SendCommands.ts"
import { API, QUOTE, SERVICES_LIST, SERVICES_SHOW } from "./ServiceCommands.ts"
import { LIMITS, LOGIN, LOGOUT, TOKEN_ROTATE, WHOAMI } from "./SessionCommands.ts"
import { TENANT_REVOKE_TOKENS } from "./TenantCommands.ts"
import { COMPLETION, HELP, SCHEMA } from "./ToolCommands.ts"
import { WALLET_ADDRESS, WALLET_ALLOW, WALLET_BALANCE, WALLET_CREATE, WALLET_IMPORT } from "./WalletCommands.ts"
import { WEBHOOK_DELETE, WEBHOOK_LOG, WEBHOOK_SET, WEBHOOK_SHOW, WEBHOOK_TEST } from "./WebhookCommands.ts"

/** All commands, in the order of help. */
export const COMMANDS = [
  WALLET_CREATE,
  WALLET_IMPORT,
  WALLET_ADDRESS,
  WALLET_BALANCE,
  WALLET_ALLOW,
  LOGIN,
  LOGOUT,
  WHOAMI,
  TOKEN_ROTATE,
  LIMITS,
  SERVICES_LIST,
  SERVICES_SHOW,
  QUOTE,
  MAILBOX_CREATE,
  MAILBOX_LIST,
  MAILBOX_UPDATE,
  MAILBOX_DELETE,
  MAIL_SEND,
  MAIL_CANCEL,
  MAIL_REPLY,
  MAIL_FORWARD,
  MAIL_LIST,
  MAIL_READ,
  MAIL_THREADS,
  MAIL_THREAD,
  MAIL_MARK,
  MAIL_LABEL,
  MAIL_ATTACHMENTS,
  MAIL_RAW,
  MAIL_WAIT,
  MAIL_SUPPRESSIONS_LIST,
  MAIL_SUPPRESSIONS_LIFT,
  NUMBER_BUY,
  NUMBER_LIST,
  NUMBER_VOICES,
  NUMBER_RENEW,
  NUMBER_ADD_MINUTES,
  NUMBER_RELEASE,
  CALL_START,
  CALL_EXTEND,
  CALL_LIST,
  CALL_SHOW,
  CALL_TRANSCRIPT,
  VOICE_ANSWER,
  EVENTS_TAIL,
  EVENTS_LIST,
  EVENTS_GET,
  EVENTS_ACK,
  EVENTS_ACK_ALL,
  WEBHOOK_SET,
  WEBHOOK_SHOW,
  WEBHOOK_DELETE,
  WEBHOOK_TEST,
  WEBHOOK_LOG,
  PAYMENTS_LIST,
  PAYMENTS_SHOW,
  PAYMENTS_STATUS,
  PAYMENTS_RECEIPT,
  PAYMENTS_RESUME,
  BUDGET_SET,
  BUDGET_SHOW,
  MCP,
  DEV,
  SANDBOX_MAIL,
  SANDBOX_OUTBOX,
  SANDBOX_REPORT,
  SANDBOX_CALL,
  SANDBOX_FUND,
  DOCTOR,
  CONFIG_LIST,
  CONFIG_GET,
  CONFIG_SET,
  CONFIG_PATH,
  TENANT_REVOKE_TOKENS,
  COMPLETION,
  API,
  SCHEMA,
  HELP
] as const

export type AnyCommand = (typeof COMMANDS)[number]
export type CommandName = AnyCommand["name"]

const PROGRAM: ProgramSpec = {
  name: "agentctl",
  version: VERSION,
  summary: "Mailboxes, phone numbers and calls for AI agents, paid per call from a wallet.",
  globalFlags: GLOBAL_FLAGS,
  start: ["login", "logout", "whoami", "quote"],
  titles: { start: "GETTING STARTED", rest: "TOOLS" }
}

export const COMMAND_TREE = new CommandTree(PROGRAM, COMMANDS, {
  wallet: "Manage the wallet that pays",
  token: "Manage the access token",
  services: "Browse services and prices",
  mailbox: "Manage mailboxes",
  mail: "Send and read messages",
  number: "Manage phone numbers",
  call: "Place calls and read transcripts",
  voice: "Answer calls",
  events: "Follow and acknowledge events",
  webhook: "Receive events at a URL",
  payments: "Inspect and resume payments from this machine",
  budget: "Limit payments from this machine",
  sandbox: "Act as the world outside the sandbox",
  config: "Manage settings and profiles",
  tenant: "Operate a server"
})
