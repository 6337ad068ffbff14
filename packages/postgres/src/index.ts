/// <reference types="node" preserve="true" />
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
export { SchemaOutdated } from "./Migrations.ts"
export { DirectoryInUse } from "./PGliteDatabase.ts"
export * as Postgres from "./Postgres.ts"
