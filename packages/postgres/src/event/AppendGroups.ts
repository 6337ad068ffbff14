import type { DurableEvent, EventDraft } from "@agentos/core"
import { Cause, Deferred, Effect, Exit } from "effect"
import type { SqlError } from "effect/sql"
import { fromSqlError } from "../DatabaseFailure.ts"

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

/** A call whose drafts are waiting, all of one tenant. */
interface Call {
  readonly drafts: ReadonlyArray<EventDraft>
  readonly answer: Deferred.Deferred<Answer>
}

/**
 * Stores the drafts of overlapping calls in one statement, and so in one commit: the first call at once, and
 * those that arrive while its statement runs together after it. One commit costs nearly as much as a hundred.
 *
 * No call is affected by another: if a statement of several calls was refused, or a tenant is locked by a long
 * transaction, the call is repeated alone. So is a call with several tenants, which must store all of its
 * drafts or none.
 */
export const groupAppends = ({ alone, together }: Appends) => {
  const waiting = new Set<Call>()
  let isWorking = false

  const takeSome = (): ReadonlyArray<Call> => {
    const taken: Array<Call> = []
    let count = 0
    for (const call of waiting) {
      count += call.drafts.length
      if (count > GROUP_LIMIT && taken.length > 0) break
      taken.push(call)
      waiting.delete(call)
    }
    return taken
  }

  const work = Effect.gen(function* () {
    for (let calls = takeSome(); calls.length > 0; calls = takeSome()) {
      const exit = yield* Effect.exit(together(calls.flatMap(({ drafts }) => drafts)))
      let start = 0
      for (const { answer, drafts } of calls) {
        const end = start + drafts.length
        yield* Deferred.done(
          answer,
          Exit.isSuccess(exit) ? answerOf(exit.value.slice(start, end)) : afterFailure(exit.cause)
        )
        start = end
      }
    }
    isWorking = false
  })

  return (drafts: ReadonlyArray<EventDraft>): Effect.Effect<ReadonlyArray<DurableEvent>> => {
    const isOfOneTenant = drafts.every(({ tenantId }) => tenantId === drafts[0]?.tenantId)
    if (!isOfOneTenant || drafts.length > GROUP_LIMIT) return alone(drafts)
    return Effect.uninterruptibleMask((restore) =>
      Effect.gen(function* () {
        const call: Call = { drafts, answer: yield* Deferred.make<Answer>() }
        waiting.add(call)
        if (!isWorking) {
          isWorking = true
          // A separate fiber: the caller may be interrupted while other calls wait for the same statement.
          yield* Effect.forkDetach(Effect.interruptible(work))
        }
        const answer = yield* restore(Deferred.await(call.answer)).pipe(
          Effect.onInterrupt(() => Effect.sync(() => waiting.delete(call)))
        )
        return answer === "alone" ? yield* restore(alone(drafts)) : answer
      })
    )
  }
}

const answerOf = (appended: ReadonlyArray<Appended>): Exit.Exit<Answer> =>
  Exit.succeed(appended.includes("left") ? "alone" : appended.filter(isEvent))

/**
 * A statement that the server refused has stored nothing, and one call may have caused that. If the connection
 * was lost, it is unknown what the statement stored: the callers have to find out.
 */
const afterFailure = (cause: Cause.Cause<SqlError.SqlError>): Exit.Exit<"alone"> => {
  const reasons = cause.reasons.map((reason) =>
    Cause.isFailReason(reason) ? Cause.makeDieReason(fromSqlError(reason.error)) : reason
  )
  const isRefused = cause.reasons.every((reason) => Cause.isFailReason(reason) && isOfServer(reason.error))
  return isRefused ? Exit.succeed("alone") : Exit.failCause(Cause.fromReasons(reasons))
}

const isOfServer = (error: SqlError.SqlError): boolean =>
  error.reason._tag !== "ConnectionError" && fromSqlError(error).code !== undefined
