import { CLOSE_CODES, OPERATIONS } from "@agentos/api"
import {
  ATTACHMENT_LIMIT,
  ATTACHMENTS_LIMIT_BYTES,
  BODY_LIMIT_BYTES,
  CALL_LIMITS,
  CATALOG,
  DEFAULT_CALL_POLICY,
  DEFAULT_MAIL_POLICY,
  IDEMPOTENCY_KEY_LIMIT,
  LABEL_CHARACTERS,
  LABEL_LIMIT,
  MAIL_LIMITS,
  METADATA_KEY_CHARACTERS,
  METADATA_LIMIT,
  METADATA_VALUE_CHARACTERS,
  RealtimeSession,
  RECIPIENT_LIMIT,
  SCHEDULE_DAYS,
  SCHEDULED_LIMIT,
  SenderPolicy,
  REPLY_TO_LIMIT,
  SUBJECT_LIMIT,
  UPDATE_LIMIT,
  Usdt
} from "@agentos/core"
import {
  bodyLimitsOf,
  COST_ROWS,
  DEFAULT_BODY_LIMITS,
  HANDSHAKES,
  HEADER_COUNT_LIMIT,
  HEADERS_LIMIT_BYTES,
  QUERY_PARAMETERS_LIMIT,
  REFUSALS,
  SOCKET_FRAMES,
  TARGET_LIMIT_BYTES,
  TENANT_FRAMES
} from "@agentos/http-server/limits"
import { readFileSync } from "node:fs"
import { alertSections } from "./Alerts.ts"
import { code, table } from "./Page.ts"
import { topicList } from "./Topics.ts"

const MIB = 1024 * 1024

const grouped = (count: number): string => count.toLocaleString("en-US")

const SCOPES = { wallet: "the wallet", mailbox: "each mailbox", number: "each number", recipient: "each called number" }

const quotaRow = (
  { answer, description, name, scope }: (typeof MAIL_LIMITS | typeof CALL_LIMITS)[number],
  limit: number
): ReadonlyArray<string> => [`\`${name}\``, SCOPES[scope], description, grouped(limit), answer]

/** The figures and tables that guides name as `{{name}}`, from the code. */
const FIGURES: Readonly<Record<string, string>> = {
  topics: topicList,
  alerts: alertSections,
  idempotencyKeyLength: grouped(IDEMPOTENCY_KEY_LIMIT),
  senderListLength: grouped(SenderPolicy.SENDER_LIST_LIMIT),
  metadataKeys: grouped(METADATA_LIMIT),
  metadataKeyLength: grouped(METADATA_KEY_CHARACTERS),
  metadataValueLength: grouped(METADATA_VALUE_CHARACTERS),
  labels: grouped(LABEL_LIMIT),
  labelLength: grouped(LABEL_CHARACTERS),
  updatedMessages: grouped(UPDATE_LIMIT),
  recipients: grouped(RECIPIENT_LIMIT),
  scheduleDays: grouped(SCHEDULE_DAYS),
  scheduledMessages: grouped(SCHEDULED_LIMIT),
  subjectLength: grouped(SUBJECT_LIMIT),
  replyToAddresses: grouped(REPLY_TO_LIMIT),
  textMiB: grouped(BODY_LIMIT_BYTES / MIB),
  attachments: grouped(ATTACHMENT_LIMIT),
  attachmentsMiB: grouped(ATTACHMENTS_LIMIT_BYTES / MIB),
  bodyBytes: grouped(DEFAULT_BODY_LIMITS.bytes),
  messageBodyBytes: grouped(bodyLimitsOf(OPERATIONS.sendMessage).bytes),
  firstBodyBytes: grouped(bodyLimitsOf(OPERATIONS.createMailbox).bytes),
  targetBytes: grouped(TARGET_LIMIT_BYTES),
  queryParameters: grouped(QUERY_PARAMETERS_LIMIT),
  headerBytes: grouped(HEADERS_LIMIT_BYTES),
  headerFields: grouped(HEADER_COUNT_LIMIT),
  handshakesAtOnce: grouped(HANDSHAKES.burst),
  handshakesPerSecond: grouped(HANDSHAKES.perSecond),
  socketFrames: grouped(SOCKET_FRAMES.perSecond),
  tenantFrames: grouped(TENANT_FRAMES.perSecond),
  deliveriesInFlight: grouped(RealtimeSession.MAX_IN_FLIGHT),
  refusalsPerSecond: grouped(REFUSALS.perSecond),
  closeCodes: table(
    ["Code", "Meaning"],
    Object.values(CLOSE_CODES).map(({ code, meaning }) => [`${code}`, meaning])
  ),
  quotas: table(
    ["Limit", "Counts for", "", "Default", "A request above it"],
    [
      ...MAIL_LIMITS.map((row) => quotaRow(row, row.limitOf(DEFAULT_MAIL_POLICY))),
      ...CALL_LIMITS.map((row) => quotaRow(row, row.limitOf(DEFAULT_CALL_POLICY)))
    ]
  ),
  costs: table(
    ["A request that", "Costs"],
    COST_ROWS.map(([what, cost]) => [what, grouped(cost)])
  )
}

const priceOf = (operationId: string): string | undefined => {
  const price = CATALOG.find((entry) => entry.operationId === operationId)?.price
  return price === undefined || price === null ? undefined : `${Usdt.toDecimal(price)} ${Usdt.ASSET}`
}

const EXAMPLES = new URL("../../../examples/", import.meta.url)

/** Returns a file of the examples as a block of code. */
const exampleCode = (path: string): string => code("ts", readFileSync(new URL(path, EXAMPLES), "utf8"))

/**
 * Replaces `{{name}}`, `{{priceOf:operationId}}` and `{{example:path}}` in a guide. Throws for a name without a figure and
 * for a missing file.
 */
export const withFigures = (markdown: string): string =>
  withNamedFigures(markdown).replaceAll(/\{\{example:([\w/.-]+)\}\}/g, (_, path: string) => exampleCode(path))

const withNamedFigures = (markdown: string): string =>
  markdown.replaceAll(/\{\{(?:priceOf:)?(\w+)\}\}/g, (written, name: string) => {
    const figure = written.startsWith("{{priceOf:") ? priceOf(name) : FIGURES[name]
    if (figure === undefined) throw new Error(`There is no figure ${written}.`)
    return figure
  })
