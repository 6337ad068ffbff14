import { Context, type Effect, Schema } from "effect"
import type { Timestamp } from "../kernel/Timestamp.ts"

export const AuditOutcome = Schema.Literals(["succeeded", "failed"])

/** One attempt of an operator to change something. It contains no secret and nothing that a tenant wrote. */
export interface AuditRecord {
  readonly auditId: string
  readonly at: Timestamp
  /** The name of an operator; `command:` and the user of the machine for a command of agentos-server. */
  readonly actor: string
  readonly action: string
  /** The changed thing: an id, a name or a wallet, in lower case. */
  readonly target: string | null
  /** The operator's reason. */
  readonly reason: string | null
  /** The changed fields before and after, as JSON text; null if the action has none, or failed. */
  readonly before: string | null
  readonly after: string | null
  readonly outcome: typeof AuditOutcome.Type
  /** Why it failed. */
  readonly failure: string | null
}

/** Selects a page of records, newest first. */
export interface AuditQuery {
  readonly actor?: string | undefined
  readonly target?: string | undefined
  /** Only records that are older than the one with this id. */
  readonly before?: string | undefined
  readonly limit: number
}

/** The port that stores the audit. Records are never changed. */
export class AuditStore extends Context.Service<
  AuditStore,
  {
    /** Stores a record, unless one with its id exists. */
    readonly append: (record: AuditRecord) => Effect.Effect<void>
    /** Returns up to `limit` records by descending id, which begins with the time of the attempt. */
    readonly list: (query: AuditQuery) => Effect.Effect<ReadonlyArray<AuditRecord>>
    /**
     * Deletes up to `limit` records that are at least `age` milliseconds old, oldest first. Returns how many. Deletes none that
     * is younger than a year.
     */
    readonly remove: (given: { readonly age: number; readonly limit: number }) => Effect.Effect<number>
  }
>()("@agentos/core/operator/AuditStore") {}
