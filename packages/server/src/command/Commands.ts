import { CommandTree, HELP_FLAG, JSON_FLAG, OUTPUT_FLAGS, type ProgramSpec } from "@agentos/node/command-line"
import { VERSION } from "../Version.ts"
import { CHECK_CONFIG } from "./CheckConfigCommand.ts"
import { CHECK_DNS } from "./CheckDnsCommand.ts"
import { DOCTOR } from "./DoctorCommand.ts"
import { INIT } from "./InitCommand.ts"
import { JOBS_LIST, JOBS_RUN } from "./JobsCommands.ts"
import { LEDGER } from "./LedgerCommand.ts"
import {
  INBOUND_DROP,
  INBOUND_LIST,
  INBOUND_REPLAY,
  INBOUND_SHOW,
  OUTBOUND_CANCEL,
  OUTBOUND_LIST,
  OUTBOUND_RETRY
} from "./MailCommands.ts"
import { MIGRATE } from "./MigrateCommand.ts"
import { NUMBERS_LIST, NUMBERS_RELEASE } from "./NumberCommands.ts"
import { AUDIT_LIST, OPERATORS_ADD, OPERATORS_LIST, OPERATORS_REMOVE, OPERATORS_ROTATE } from "./OperatorCommands.ts"
import {
  OPERATIONS_LIST,
  OPERATIONS_REFUND,
  OPERATIONS_RETRY,
  OPERATIONS_SHOW,
  TRANSFERS_RETURN
} from "./OperationCommands.ts"
import { SELL_START, SELL_STATUS, SELL_STOP } from "./SellCommands.ts"
import { ENV_FILE_FLAG } from "./ServerCommand.ts"
import { START } from "./StartCommand.ts"
import {
  SUPPRESSIONS_LIST,
  SUPPRESSIONS_REMOVE,
  TENANTS_ERASE,
  TENANTS_EXPORT,
  TENANTS_RETENTION,
  TENANTS_LIST,
  TENANTS_SEARCH,
  TENANTS_SHOW
} from "./TenantCommands.ts"
import { TOKEN_KEY, TOKEN_OPERATOR, TOKEN_REVOKE } from "./TokenCommands.ts"
import { WEBHOOKS_DELIVERIES, WEBHOOKS_REDELIVER } from "./WebhookCommands.ts"

/** All commands, in the order of help. */
export const COMMANDS = [
  INIT,
  CHECK_CONFIG,
  CHECK_DNS,
  START,
  DOCTOR,
  MIGRATE,
  LEDGER,
  OPERATIONS_LIST,
  OPERATIONS_SHOW,
  OPERATIONS_RETRY,
  OPERATIONS_REFUND,
  TRANSFERS_RETURN,
  TENANTS_LIST,
  TENANTS_SEARCH,
  TENANTS_SHOW,
  TENANTS_EXPORT,
  TENANTS_RETENTION,
  TENANTS_ERASE,
  SUPPRESSIONS_LIST,
  SUPPRESSIONS_REMOVE,
  INBOUND_LIST,
  INBOUND_SHOW,
  INBOUND_REPLAY,
  INBOUND_DROP,
  OUTBOUND_LIST,
  OUTBOUND_RETRY,
  OUTBOUND_CANCEL,
  WEBHOOKS_DELIVERIES,
  WEBHOOKS_REDELIVER,
  SELL_STATUS,
  SELL_STOP,
  SELL_START,
  JOBS_LIST,
  JOBS_RUN,
  NUMBERS_LIST,
  NUMBERS_RELEASE,
  TOKEN_OPERATOR,
  TOKEN_KEY,
  TOKEN_REVOKE,
  OPERATORS_LIST,
  OPERATORS_ADD,
  OPERATORS_ROTATE,
  OPERATORS_REMOVE,
  AUDIT_LIST
] as const

const PROGRAM: ProgramSpec = {
  name: "agentos-server",
  version: VERSION,
  summary: "Runs an AgentOS server, which is configured by environment variables.",
  globalFlags: [HELP_FLAG, JSON_FLAG, ENV_FILE_FLAG, ...OUTPUT_FLAGS],
  start: ["init", "check-config", "check-dns", "start"],
  titles: { start: "GETTING STARTED", rest: "MAINTENANCE" }
}

export const COMMAND_TREE = new CommandTree(PROGRAM, COMMANDS, {
  jobs: "Show and run the periodic jobs",
  operations: "Show paid operations, retry one, and record refunds by hand",
  tenants: "Find tenants, and erase one",
  suppressions: "Show and remove the addresses that a tenant can't write to",
  mail: "Show mail that waits, in and out, and deliver, send, cancel or delete it",
  "mail inbound": "Show accepted mails that wait for delivery, and deliver or delete one",
  "mail outbound": "Show messages that wait to be sent, and send or cancel one",
  webhooks: "Show the deliveries of event webhooks, and send events again",
  transfers: "Record returned transfers",
  operators: "Manage the operators and their tokens",
  audit: "Show what operators changed",
  sell: "Stop and start the sale of services",
  numbers: "Show and release numbers at the carrier that the database does not know",
  token: "Make server secrets, and revoke the tokens of a tenant"
})
