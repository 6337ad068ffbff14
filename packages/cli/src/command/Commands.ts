import { CALL_EXTEND, CALL_START } from "./CallCommands.ts"
import { EVENTS_ACK, EVENTS_ACK_ALL, EVENTS_GET, EVENTS_LIST, EVENTS_TAIL } from "./EventCommands.ts"
import { MAIL_LIST, MAIL_READ, MAIL_WAIT, MAILBOX_LIST } from "./MailCommands.ts"
import { MAILBOX_CREATE, MAILBOX_DELETE, MAILBOX_UPDATE } from "./MailboxCommands.ts"
import { NUMBER_ADD_MINUTES, NUMBER_BUY, NUMBER_RELEASE, NUMBER_RENEW } from "./NumberCommands.ts"
import { BUDGET_SET, BUDGET_SHOW, PAYMENTS_LIST, PAYMENTS_RESUME, PAYMENTS_SHOW } from "./PaymentCommands.ts"
import { CALL_SHOW, CALL_TRANSCRIPT, NUMBER_LIST } from "./PhoneCommands.ts"
import { MAIL_SEND } from "./SendCommand.ts"
import { QUOTE, SERVICES_LIST, SERVICES_SHOW } from "./ServiceCommands.ts"
import { LOGIN, LOGOUT, WHOAMI } from "./SessionCommands.ts"
import {
  API,
  COMPLETION,
  CONFIG_GET,
  CONFIG_LIST,
  CONFIG_PATH,
  CONFIG_SET,
  DEV,
  DOCTOR,
  HELP,
  SCHEMA
} from "./ToolCommands.ts"
import { WALLET_ADDRESS, WALLET_BALANCE, WALLET_CREATE, WALLET_IMPORT } from "./WalletCommands.ts"

/** Every command, in the order of help. What is not here does not exist. */
export const COMMANDS = [
  WALLET_CREATE,
  WALLET_IMPORT,
  WALLET_ADDRESS,
  WALLET_BALANCE,
  LOGIN,
  LOGOUT,
  WHOAMI,
  SERVICES_LIST,
  SERVICES_SHOW,
  QUOTE,
  MAILBOX_CREATE,
  MAILBOX_LIST,
  MAILBOX_UPDATE,
  MAILBOX_DELETE,
  MAIL_SEND,
  MAIL_LIST,
  MAIL_READ,
  MAIL_WAIT,
  NUMBER_BUY,
  NUMBER_LIST,
  NUMBER_RENEW,
  NUMBER_ADD_MINUTES,
  NUMBER_RELEASE,
  CALL_START,
  CALL_EXTEND,
  CALL_SHOW,
  CALL_TRANSCRIPT,
  EVENTS_TAIL,
  EVENTS_LIST,
  EVENTS_GET,
  EVENTS_ACK,
  EVENTS_ACK_ALL,
  PAYMENTS_LIST,
  PAYMENTS_SHOW,
  PAYMENTS_RESUME,
  BUDGET_SET,
  BUDGET_SHOW,
  DEV,
  DOCTOR,
  CONFIG_LIST,
  CONFIG_GET,
  CONFIG_SET,
  CONFIG_PATH,
  COMPLETION,
  API,
  SCHEMA,
  HELP
] as const

/** Any command of the table. */
export type AnyCommand = (typeof COMMANDS)[number]
/** The words of a command. */
export type CommandName = AnyCommand["name"]
/** The command of these words. */
export type CommandOf<Name extends CommandName> = Extract<AnyCommand, { readonly name: Name }>
