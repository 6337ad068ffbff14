import type { DurableEvent, EventDraft } from "@agentos/core"
import { Cause, Deferred, Effect, Exit } from "effect"
import type { SqlError } from "effect/sql"
import { fromSqlError } from "../DatabaseFailure.ts"

/** What became of a draft: its event, or that its key was known, or that its tenant could not be had. */
export type Appended = DurableEvent | "known" | "left"

export const isEvent = (appended: Appended): appended is DurableEvent => typeof appended !== "string"

export interface Appends {
  /** Stores drafts of any tenants in one statement, and waits for no tenant: those of a locked one are left. */
  readonly together: (drafts: ReadonlyArray<EventDraft>) => Effect.Effect<ReadonlyArray<Appended>, SqlError.SqlError>
  /** Stores the drafts of one call, in a transaction of their own. */
  readonly alone: (drafts: ReadonlyArray<EventDraft>) => Effect.Effect<ReadonlyArray<DurableEvent>>
}

/** Drafts of one statement; a call with more than that is on its own. */
const GROUP_LIMIT = 500

/** The events of a call, or that it has to see to itself. */
type Answer = ReadonlyArray<DurableEvent> | "alone"

/** A call whose drafts wait, all of one tenant. */
interface Call {
  readonly drafts: ReadonlyArray<EventDraft>
  readonly answer: Deferred.Deferred<Answer>
}

/**
 * Stores what calls bring that overlap in one statement, and so in one commit: the first at once, and
 * what comes while it is under way together after it. One commit costs nearly as much as a hundred.
 *
 * No call suffers from another: where a statement of several was refused, or a tenant is locked by a
 * transaction that may take its time, the call is made again on its own. So is one of several tenants,
 * which has to store all of its drafts or none.
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
          // A fiber of its own: who calls may be interrupted, and others wait for the same statement.
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
 * A statement that the server refused has stored nothing, and may be the fault of one call. Of one whose
 * connection was lost nobody knows what it stored: that is for the callers to find out.
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
