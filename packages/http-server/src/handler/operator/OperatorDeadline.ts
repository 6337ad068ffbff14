import { OperatorDelayed } from "@agentos/api"
import { type AuditRecord, AuditStore, findStoreUnavailable } from "@agentos/core"
import { Cause, Duration, Effect, Fiber } from "effect"
import { withinDeadlineOr } from "../../operation/Responses.ts"

/** How long a change that was interrupted has to end, and then its record to be found. */
const END_WITHIN = Duration.seconds(2)
/** Records of an operator among which that of its last change is searched. */
const RECORDS_SEARCHED = 100

/** Limits how long a request of an operator takes, as those of clients are limited. */
export const operatorDeadline = Effect.map(AuditStore, ({ list }) => {
  /** Returns whether a change was made. Its record is the proof: the two are committed together. */
  const findChange = ({ actor, auditId }: Pick<AuditRecord, "actor" | "auditId">) =>
    list({ actor, limit: RECORDS_SEARCHED }).pipe(
      Effect.map((records) => records.find((record) => record.auditId === auditId)?.outcome),
      Effect.catchCause(() => Effect.succeed(undefined)),
      (finding) => withinDeadlineOr(finding, () => Effect.succeed(undefined), END_WITHIN),
      Effect.map((outcome) => (outcome === undefined ? "unknown" : outcome === "succeeded" ? "yes" : "no"))
    )
  const failWith = (changed: OperatorDelayed["changed"]) => Effect.fail(new OperatorDelayed({ changed }))

  return {
    /** Answers a request that changes nothing. */
    read: <A, E, R>(answer: Effect.Effect<A, E, R>) => withinDeadlineOr(answer, () => failWith("no")),
    /**
     * Answers a request that changes something in one transaction. If the time or the database ends it, its answer says whether
     * the change was made.
     */
    change: <A, E, R>(answer: Effect.Effect<A, E, R>, record: Pick<AuditRecord, "actor" | "auditId">) =>
      withinDeadlineOr(answer, (working) =>
        Effect.andThen(
          Effect.timeoutOption(Fiber.await(working), END_WITHIN),
          Effect.flatMap(findChange(record), failWith)
        )
      ).pipe(
        Effect.catchCause((cause) => {
          if (!cause.reasons.some(Cause.isDieReason)) return Effect.failCause(cause)
          const isUnavailable = findStoreUnavailable(cause) !== undefined
          return Effect.flatMap(findChange(record), (changed) =>
            isUnavailable || changed === "yes" ? failWith(changed) : Effect.failCause(cause)
          )
        })
      )
  }
})
