import { Effect, Queue } from "effect"
import { MailboxStore } from "./MailboxStore.ts"
import { addRefused, isCountedRefusal, type MailRefusal, refusalLabel, type RefusedMails } from "./RefusedMail.ts"

/** Minimum time between two writes of the counts of a mailbox by one server, however much mail is refused. */
export const REFUSAL_WRITE_INTERVAL = "10 seconds"
const WRITE_TIMEOUT = "5 seconds"
/** The number of mailboxes that are written at a time. Refusals of more are counted by the metric alone. */
const MAILBOXES_MAX = 500

/**
 * Counts the refused mails of mailboxes in memory, and adds the counts to their records: the first ones at once, later
 * ones after `REFUSAL_WRITE_INTERVAL`, and all when its scope closes. Counts that were not written are lost when the
 * server is killed or the store fails: a mail that is refused must not cost its receiver more than one that is accepted.
 */
export const makeRefusalCounts = Effect.gen(function* () {
  const mailboxes = yield* MailboxStore
  const arrived = yield* Queue.dropping<void>(1)
  const counts = new Map<string, RefusedMails>()

  // One statement for each mailbox, so that none waits for another's lock.
  const write = Effect.suspend(() => {
    const taken = [...counts]
    counts.clear()
    return Effect.forEach(taken, ([localPart, refused]) => mailboxes.addRefused(localPart, refused), { discard: true })
  }).pipe(
    Effect.timeout(WRITE_TIMEOUT),
    Effect.catchCause((cause) => Effect.logWarning("Refused mails could not be counted in their mailboxes", cause))
  )

  yield* Effect.addFinalizer(() => write)
  yield* Queue.take(arrived).pipe(
    Effect.andThen(write),
    Effect.andThen(Effect.sleep(REFUSAL_WRITE_INTERVAL)),
    Effect.forever,
    Effect.forkScoped
  )

  /** Counts a mail that was refused to the mailboxes with these local parts. */
  return (localParts: Iterable<string>, refusal: MailRefusal): Effect.Effect<void> =>
    Effect.suspend(() => {
      const reason = refusalLabel(refusal)
      if (!isCountedRefusal(reason)) return Effect.void
      for (const localPart of localParts) {
        const known = counts.get(localPart)
        if (known === undefined && counts.size >= MAILBOXES_MAX) continue
        counts.set(localPart, addRefused(known ?? {}, { [reason]: 1 }))
      }
      return counts.size === 0 ? Effect.void : Effect.asVoid(Queue.offer(arrived, undefined))
    })
})
