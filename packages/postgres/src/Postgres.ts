import { EventSignal, Transactor } from "@agentos/core"
import { Effect, Layer } from "effect"
import * as AttachmentStorePostgres from "./AttachmentStorePostgres.ts"
import * as AuditStorePostgres from "./AuditStorePostgres.ts"
import * as AgentSessionStorePostgres from "./AgentSessionStorePostgres.ts"
import * as CallStorePostgres from "./CallStorePostgres.ts"
import { Database } from "./Database.ts"
import { orDie } from "./DatabaseFailure.ts"
import * as EventStorePostgres from "./EventStorePostgres.ts"
import * as GasTransactionStorePostgres from "./GasTransactionStorePostgres.ts"
import * as InboundMailStorePostgres from "./InboundMailStorePostgres.ts"
import * as IncidentStorePostgres from "./IncidentStorePostgres.ts"
import * as JobStorePostgres from "./JobStorePostgres.ts"
import * as MailboxStorePostgres from "./MailboxStorePostgres.ts"
import * as ManualRefundStorePostgres from "./ManualRefundStorePostgres.ts"
import * as MessageRetryStorePostgres from "./MessageRetryStorePostgres.ts"
import * as MessageStorePostgres from "./MessageStorePostgres.ts"
import * as OperationStorePostgres from "./OperationStorePostgres.ts"
import * as OperatorStorePostgres from "./OperatorStorePostgres.ts"
import * as PhoneNumberStorePostgres from "./PhoneNumberStorePostgres.ts"
import * as RateLimitStorePostgres from "./RateLimitStorePostgres.ts"
import * as RetentionStorePostgres from "./RetentionStorePostgres.ts"
import * as SalesStopStorePostgres from "./SalesStopStorePostgres.ts"
import * as TenantErasureStorePostgres from "./TenantErasureStorePostgres.ts"
import * as TenantStorePostgres from "./TenantStorePostgres.ts"
import * as WebhookStorePostgres from "./WebhookStorePostgres.ts"

/** Time limit for the database to answer the readiness check. */
const READY_WITHIN = "2 seconds"

const transactor = Layer.effect(
  Transactor,
  Effect.map(Database, ({ sql, transact }) =>
    Transactor.of({
      transact,
      // The message, which nothing reads, makes the statement commit: a write to the log on disk, and to standbys.
      ready: orDie(sql<{ readonly ready: boolean }>`
        select current_setting('transaction_read_only') = 'off' and database_has_room() as ready,
          pg_logical_emit_message(true, 'agentos', 'ready')::text`).pipe(
        Effect.map((rows) => rows[0]?.ready === true),
        Effect.timeout(READY_WITHIN),
        Effect.catchCause((cause) => Effect.as(Effect.logWarning("the database is not ready", cause), false))
      )
    })
  )
)

/** Wake-ups through the notifications of the database, after each commit. */
const signal = Layer.effect(
  EventSignal,
  Effect.map(Database, ({ announcements }) => EventSignal.of({ listen: announcements.listen }))
)

/** Every storage port of the core on one database: `Layer.provide(Postgres.layer, layerPostgres({ url }))`. */
export const layer = Layer.mergeAll(
  transactor,
  AgentSessionStorePostgres.layer,
  TenantStorePostgres.layer,
  TenantErasureStorePostgres.layer,
  EventStorePostgres.layer,
  signal,
  OperationStorePostgres.layer,
  OperatorStorePostgres.layer,
  GasTransactionStorePostgres.layer,
  MailboxStorePostgres.layer,
  ManualRefundStorePostgres.layer,
  MessageStorePostgres.layer,
  MessageRetryStorePostgres.layer,
  AttachmentStorePostgres.layer,
  AuditStorePostgres.layer,
  InboundMailStorePostgres.layer,
  IncidentStorePostgres.layer,
  JobStorePostgres.layer,
  PhoneNumberStorePostgres.layer,
  CallStorePostgres.layer,
  RateLimitStorePostgres.layer,
  RetentionStorePostgres.layer,
  SalesStopStorePostgres.layer,
  WebhookStorePostgres.layer
)
