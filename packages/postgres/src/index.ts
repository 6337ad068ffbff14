/// <reference types="node" preserve="true" />
export * as AttachmentStorePostgres from "./AttachmentStorePostgres.ts"
export * as CallStorePostgres from "./CallStorePostgres.ts"
export { ClockOffset } from "./ClockOffset.ts"
export {
  Database,
  layerPGlite,
  layerPostgres,
  maintainPGlite,
  maintainPostgres,
  type PGliteOptions,
  type PostgresOptions,
  type SchemaMaintenance
} from "./Database.ts"
export { type DatabaseDiagnosis, diagnoseDatabase } from "./DatabaseDiagnosis.ts"
export { DatabaseFailure } from "./DatabaseFailure.ts"
export { type DatabaseRisk } from "./DatabaseRisks.ts"
export { countConnections, databaseRisks, databaseTime, tableSizes } from "./DatabaseState.ts"
export { DatabaseUnsuitable } from "./DatabaseFailure.ts"
export { DirectoryInUse } from "./DirectoryLock.ts"
export * as EventSignalPostgres from "./EventSignalPostgres.ts"
export * as EventStorePostgres from "./EventStorePostgres.ts"
export * as GasTransactionStorePostgres from "./GasTransactionStorePostgres.ts"
export * as InboundMailStorePostgres from "./InboundMailStorePostgres.ts"
export * as JobStorePostgres from "./JobStorePostgres.ts"
export * as MailboxStorePostgres from "./MailboxStorePostgres.ts"
export * as MessageStorePostgres from "./MessageStorePostgres.ts"
export * as OperationStorePostgres from "./OperationStorePostgres.ts"
export * as PhoneNumberStorePostgres from "./PhoneNumberStorePostgres.ts"
export * as Postgres from "./Postgres.ts"
export * as RateLimitStorePostgres from "./RateLimitStorePostgres.ts"
export * as TenantStorePostgres from "./TenantStorePostgres.ts"
export * as TransactorPostgres from "./TransactorPostgres.ts"
