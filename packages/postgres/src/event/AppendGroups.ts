import { CallGroup, type DurableEvent, type EventDraft } from "@agentos/core"
import { Cause, type Context, Effect, Exit } from "effect"
import type { SqlError } from "effect/sql"
import { fromSqlError, toDefect } from "../DatabaseFailure.ts"

/**
 * The outcome of a draft: its event; "known" if its dedupe key already exists; "left" if its tenant was locked
 * or does not exist.
 */
export type Appended = DurableEvent | "known" | "left"

export const isEvent = (appended: Appended): appended is DurableEvent => typeof appended !== "string"

export interface Appends {
  /** Stores drafts of any tenants in one statement. It waits for no lock: drafts of a locked tenant are left. */
  readonly together: (drafts: ReadonlyArray<EventDraft>) => Effect.Effect<ReadonlyArray<Appended>, SqlError.SqlError>
  /** Stores the drafts of one call, in a transaction of their own. */
  readonly alone: (drafts: ReadonlyArray<EventDraft>) => Effect.Effect<ReadonlyArray<DurableEvent>>
}

/** Limit of drafts in one statement; a call with more drafts is stored alone. */
const GROUP_LIMIT = 500

/** The events of a call, or "alone" if it must be stored alone. */
type Answer = ReadonlyArray<DurableEvent> | "alone"

/** The drafts of a call, all of one tenant. */
interface Drafts {
  readonly drafts: ReadonlyArray<EventDraft>
  readonly context: Context.Context<never>
}

/**
 * Stores the drafts of overlapping calls in one statement, and so in one commit, which costs nearly as much as a
 * hundred. The statement of several calls runs in the context of the first.
 *
 * No call is affected by another: if a statement of several calls was refused, or a tenant is locked by a long
 * transaction, the call is repeated alone. So is a call with several tenants, which must store all of its
 * drafts or none.
 */
export const groupAppends = ({ alone, together }: Appends) => {
  const grouped = CallGroup.answering<Drafts, Answer, never, SqlError.SqlError>(
    {
      limit: GROUP_LIMIT,
      sizeOf: ({ drafts }) => drafts.length,
      work: Effect.fnUntraced(function* (calls) {
        const drafts = calls.flatMap(({ item }) => item.drafts)
        const appended = yield* Effect.provideContext(together(drafts), calls[0]!.item.context)
        let start = 0
        for (const { answer, item } of calls) {
          const end = start + item.drafts.length
          answer(answerOf(appended.slice(start, end)))
          start = end
        }
      }),
      failed: afterFailure
    },
    Effect.runFork
  )

  return (drafts: ReadonlyArray<EventDraft>): Effect.Effect<ReadonlyArray<DurableEvent>> => {
    const isOfOneTenant = drafts.every(({ tenantId }) => tenantId === drafts[0]?.tenantId)
    if (!isOfOneTenant || drafts.length > GROUP_LIMIT) return alone(drafts)
    return Effect.gen(function* () {
      const answer = yield* grouped({ drafts, context: yield* Effect.context<never>() })
      return answer === "alone" ? yield* alone(drafts) : answer
    })
  }
}

const answerOf = (appended: ReadonlyArray<Appended>): Exit.Exit<Answer> =>
  Exit.succeed(appended.includes("left") ? "alone" : appended.filter(isEvent))

/**
 * A statement that the server refused has stored nothing, and one call may have caused that. If the connection
 * was lost, it is unknown which events the statement stored: the callers have to find out.
 */
const afterFailure = (cause: Cause.Cause<SqlError.SqlError>): Exit.Exit<"alone"> => {
  const reasons = cause.reasons.map((reason) =>
    Cause.isFailReason(reason) ? Cause.makeDieReason(toDefect(reason.error)) : reason
  )
  const isRefused = cause.reasons.every((reason) => Cause.isFailReason(reason) && isOfServer(reason.error))
  return isRefused ? Exit.succeed("alone") : Exit.failCause(Cause.fromReasons(reasons))
}

const isOfServer = (error: SqlError.SqlError): boolean =>
  error.reason._tag !== "ConnectionError" && fromSqlError(error).code !== undefined
