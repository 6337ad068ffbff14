import { Cause, Context, Effect, Exit, Schema } from "effect"
import type { Page } from "../kernel/Page.ts"
import * as PageInput from "../kernel/PageInput.ts"
import { plainText } from "../kernel/PlainText.ts"
import * as Timestamp from "../kernel/Timestamp.ts"
import * as Uuid from "../kernel/Uuid.ts"
import { type AuditRecord, AuditStore } from "./AuditStore.ts"

/** Maximum length of an operator's reason, in characters. */
export const AUDIT_REASON_LIMIT = 500
export const AUDIT_LIMIT = 100
const DEFAULT_AUDIT_LIMIT = 20
const FAILURE_LIMIT = 500

/** A change that an operator requests. */
export interface Mutation extends Pick<AuditRecord, "actor" | "action" | "target" | "reason"> {
  /** The id of its record, if the caller has to find it. */
  readonly auditId?: string
}

/** The parts of a record that the change knows. They count where the mutation does not have them. */
type Details = Partial<Pick<AuditRecord, "reason">>
type Change = Pick<AuditRecord, "before" | "after"> & Details

/** The mutation that this fiber executes; null outside of one. */
const CurrentMutation = Context.Reference<{
  /** Stores its record, or that of its beginning. */
  readonly record: (change: Change, beginning?: string) => Effect.Effect<void>
  readonly name: (target: string) => void
} | null>("@agentos/core/operator/CurrentMutation", { defaultValue: () => null })

/**
 * Records that the current mutation succeeds, and the fields that it changes. Call it in the transaction of the change, so
 * that both are committed or neither is. It does nothing outside of a mutation.
 */
export const recordChange = (before: unknown, after: unknown, details: Details = {}): Effect.Effect<void> =>
  Effect.flatMap(CurrentMutation, (mutation) =>
    mutation === null
      ? Effect.void
      : mutation.record({
          before: JSON.stringify(before),
          after: JSON.stringify(after),
          ...details
        })
  )

/**
 * Records the first change of a mutation that takes several transactions, or that one outside the database is about to begin,
 * under an action of its own: if the process is killed before the end, there is no other record. Call it in the transaction of
 * that change.
 */
export const recordBeginning = (action: string, before: unknown, after: unknown): Effect.Effect<void> =>
  Effect.flatMap(CurrentMutation, (mutation) =>
    mutation === null
      ? Effect.void
      : mutation.record({ before: JSON.stringify(before), after: JSON.stringify(after) }, action)
  )

/** Names the target of the current mutation, if it had none when it began: its record has it also if it fails. */
export const nameTarget = (target: string): Effect.Effect<void> =>
  Effect.map(CurrentMutation, (mutation) => mutation?.name(target))

/**
 * Runs a mutation and leaves one record of it, also when it fails, dies or is interrupted. The record is that of
 * `recordChange`, or one without fields, which is stored when the mutation ends.
 */
export const audited = Effect.fnUntraced(function* <A, E, R>(
  mutation: Mutation,
  effect: Effect.Effect<A, E, R>
): Effect.fn.Return<A, E, R | AuditStore> {
  const store = yield* AuditStore
  const attempt = { auditId: yield* Uuid.next, at: yield* Timestamp.now, ...mutation }
  const append = (
    outcome: AuditRecord["outcome"],
    failure: string | null,
    change: Change,
    own?: Pick<AuditRecord, "auditId" | "action">
  ) => {
    const target = (attempt.target ?? named)?.toLowerCase() ?? null
    const reason = attempt.reason ?? change.reason ?? null
    return store.append({ ...attempt, ...change, target, reason, outcome, failure, ...own })
  }
  let isRecorded = false
  let named: string | undefined
  const record = (change: Change, beginning?: string) =>
    beginning === undefined
      ? Effect.tap(append("succeeded", null, change), () => Effect.sync(() => void (isRecorded = true)))
      : Effect.flatMap(Uuid.next, (auditId) => append("succeeded", null, change, { auditId, action: beginning }))
  // The id is that of the record which the mutation has committed, if it has one.
  const finish = (exit: Exit.Exit<A, E>) => {
    // A committed change does not depend on another write.
    if (Exit.isSuccess(exit)) return isRecorded ? Effect.void : append("succeeded", null, UNCHANGED)
    return append("failed", failureOf(exit.cause), UNCHANGED).pipe(
      Effect.catchCause((cause) =>
        Effect.logError(`The audit record of a failed ${mutation.action} by ${mutation.actor} was not stored`, cause)
      )
    )
  }
  return yield* effect.pipe(
    Effect.provideService(CurrentMutation, { record, name: (target) => void (named = target) }),
    Effect.onExit(finish)
  )
})

const UNCHANGED: Change = { before: null, after: null }

/** Describes a failure. The message of a defect may contain anything, so it is left out. */
const failureOf = (cause: Cause.Cause<unknown>): string => {
  if (Cause.hasInterruptsOnly(cause)) return "interrupted"
  const failed = cause.reasons.find(Cause.isFailReason)
  if (failed === undefined) return "internal error"
  const { error } = failed
  const [tag, message] = ["_tag", "message"].map((name) =>
    typeof error === "object" && error !== null ? Reflect.get(error, name) : undefined
  )
  return [tag, message]
    .filter((part) => typeof part === "string" && part !== "")
    .join(": ")
    .slice(0, FAILURE_LIMIT)
}

export const AuditReason = plainText(AUDIT_REASON_LIMIT)

export const QueryAuditInput = Schema.Struct({
  actor: Schema.optionalKey(plainText(AUDIT_REASON_LIMIT)),
  target: Schema.optionalKey(plainText(AUDIT_REASON_LIMIT)),
  limit: PageInput.limit({ maximum: AUDIT_LIMIT, default: DEFAULT_AUDIT_LIMIT }),
  cursor: Schema.optionalKey(Uuid.GivenUuid)
})
export type QueryAuditInput = typeof QueryAuditInput.Type

/** A record in its wire format. */
export interface AuditReport extends Omit<AuditRecord, "at" | "before" | "after"> {
  /** In ISO 8601. */
  readonly at: string
  readonly before: unknown
  readonly after: unknown
}

const parsed = (text: string | null): unknown => (text === null ? null : JSON.parse(text))

/** Returns records, newest first. The cursor of a page is the id of its last record. */
export const listAudit = Effect.fnUntraced(function* ({
  cursor,
  limit = DEFAULT_AUDIT_LIMIT,
  target,
  ...filter
}: QueryAuditInput): Effect.fn.Return<Page<AuditReport>, never, AuditStore> {
  const { list } = yield* AuditStore
  const found = yield* list({ ...filter, target: target?.toLowerCase(), before: cursor, limit: limit + 1 })
  const items = found.slice(0, limit).map(({ after, at, before, ...record }): AuditReport => ({
    ...record,
    at: Timestamp.toIso(at),
    before: parsed(before),
    after: parsed(after)
  }))
  return { items, nextCursor: found.length > limit ? (items.at(-1)?.auditId ?? null) : null }
})
