import { Context, Effect, Schema } from "effect"
import { MessageStore } from "../email/MessageStore.ts"
import type { Job } from "../jobs/Job.ts"
import * as Timestamp from "../kernel/Timestamp.ts"
import * as Uuid from "../kernel/Uuid.ts"
import {
  afterAttempt,
  type Condition,
  follow,
  type Incident,
  INCIDENTS_MAX,
  type IncidentKind,
  type Notification,
  notificationOf,
  toInform
} from "./Incident.ts"
import { IncidentStore } from "./IncidentStore.ts"
import { LATE_SECONDS, readFigures, type StoreFigures } from "./StoreFigures.ts"

const JOB = "incident-watch"
/** Channels that are informed at the same time. */
const CONCURRENCY = 8
/** Less than the time of a deployment's checks, so that one source delays no other. */
const ANSWER_WITHIN = "20 seconds"

/** A channel did not accept a notification. `message` contains no secret. */
export class NotInformed extends Schema.TaggedError<NotInformed>()("NotInformed", { message: Schema.String }) {}

/** A way to inform the operators. */
export interface OperatorChannel {
  /** Stored with the incidents that it knows. */
  readonly name: string
  readonly inform: (notification: Notification) => Effect.Effect<void, NotInformed>
}

/** The ways to inform the operators; none by default, and then no incident is stored. */
export const OperatorChannels = Context.Reference<ReadonlyArray<OperatorChannel>>(
  "@agentos/core/operator/OperatorChannels",
  { defaultValue: () => [] }
)

/** Finds the conditions of some kinds. If it fails, those that were found before are kept. */
export interface ConditionSource {
  readonly kinds: ReadonlyArray<IncidentKind>
  readonly find: Effect.Effect<ReadonlyArray<Condition>, unknown>
}

/** The sources of conditions outside of the store. */
export const ConditionSources = Context.Reference<ReadonlyArray<ConditionSource>>(
  "@agentos/core/operator/ConditionSources",
  { defaultValue: () => [] }
)

const minutesOf = (millis: number): string => `${Math.floor(millis / Timestamp.MINUTE)} minutes`

/** Refunds and jobs that are late, and mail that can't be delivered. */
export const lateConditions = (
  { failingMails, jobs, open }: StoreFigures,
  now: Timestamp.Timestamp
): ReadonlyArray<Condition> => {
  const refunds = open.filter(
    ({ oldestAt, state }) => state === "refund_due" && now - oldestAt > LATE_SECONDS.refund * Timestamp.SECOND
  )
  const late = jobs.filter(
    ({ dueAt, leasedUntil, name }) =>
      name !== JOB && (leasedUntil ?? 0) <= now && now - dueAt > LATE_SECONDS.job * Timestamp.SECOND
  )
  return [
    ...refunds.map(({ asset, count, network, oldestAt }): Condition => ({
      kind: "refund_due",
      subject: `${network} ${asset}`,
      summary: `${count} refunds are due, the oldest for ${minutesOf(now - oldestAt)}.`,
      action: "Send the token to the refund wallet, or configure one. The refunds then go out by themselves, each once."
    })),
    ...late.map(({ dueAt, name }): Condition => ({
      kind: "job_late",
      subject: name,
      summary: `The job ${name} is late by ${minutesOf(now - dueAt)}.`,
      action: "Start a server that runs jobs, or run it: agentos-server jobs run NAME."
    })),
    ...(failingMails.count === 0
      ? []
      : [
          {
            kind: "mail_failing",
            subject: "inbound mail",
            summary: `${failingMails.count} received mails can't be delivered. The oldest: ${failingMails.failure}`,
            action: "Repair the cause. Each mail is tried again every minute: agentos-server mail inbound list."
          } satisfies Condition
        ])
  ]
}

/** A failure of the audit for another reason says nothing about the ledger. */
const ledgerConditions = ({ jobs }: StoreFigures): Effect.Effect<ReadonlyArray<Condition>, string> => {
  const { failure = null } = jobs.find(({ name }) => name === "ledger-audit") ?? {}
  if (failure === null) return Effect.succeed([])
  if (!failure.startsWith("LedgerWrong")) return Effect.fail(failure)
  return Effect.succeed([
    {
      kind: "ledger_unequal",
      subject: "ledger",
      summary: `The ledger, the operations and the refund wallet differ. ${failure}`,
      action: "agentos-server ledger has the report. /docs/operate#ledger-problems explains each line."
    }
  ])
}

const storeSources = Effect.gen(function* () {
  const stores = yield* Effect.context<Effect.Services<typeof readFigures>>()
  const { listPaused } = yield* MessageStore
  const figures = Effect.provideContext(readFigures, stores)
  const paused = Effect.map(listPaused(INCIDENTS_MAX), (tenants) =>
    tenants.map(({ pause: { reason, until }, tenantId }): Condition => ({
      kind: "tenant_paused",
      subject: tenantId,
      summary: `Sending of the tenant is paused until ${Timestamp.toIso(until)}, because too much of its mail ${reason === "bounced" ? "bounced" : "was reported as spam"}.`,
      action: "Look at what it sends. End the pause (resume-sending), or suspend the tenant."
    }))
  )
  return [
    {
      kinds: ["refund_due", "job_late", "mail_failing"],
      find: Effect.flatMap(figures, (read) => Effect.map(Timestamp.now, (now) => lateConditions(read, now)))
    },
    { kinds: ["ledger_unequal"], find: Effect.flatMap(figures, ledgerConditions) },
    { kinds: ["tenant_paused"], find: paused }
  ] satisfies ReadonlyArray<ConditionSource>
})

/** Reads all sources at the same time. */
const observe = Effect.fnUntraced(function* (sources: ReadonlyArray<ConditionSource>) {
  const readings = yield* Effect.forEach(
    sources,
    ({ find, kinds }) =>
      Effect.timeout(find, ANSWER_WITHIN).pipe(
        Effect.map((found) => ({ found, unknown: [] as ReadonlyArray<IncidentKind> })),
        Effect.catchCause((cause) =>
          Effect.as(Effect.logDebug(`conditions are not known: ${kinds.join(", ")}`, cause), {
            found: [] as ReadonlyArray<Condition>,
            unknown: kinds
          })
        )
      ),
    { concurrency: "unbounded" }
  )
  return {
    found: readings.flatMap(({ found }) => found),
    unknown: new Set(readings.flatMap(({ unknown }) => unknown))
  }
})

/**
 * The job that informs the operators of incidents, by each channel once when one begins and once when it ends, over all servers
 * and restarts: its lease has one holder, and the store has one row for each. None without channels.
 */
export const make = Effect.gen(function* () {
  const channels = yield* OperatorChannels
  if (channels.length === 0) return []
  const store = yield* IncidentStore
  const sources: ReadonlyArray<ConditionSource> = [...(yield* storeSources), ...(yield* ConditionSources)]

  /** Returns whether the channel accepted the notification. */
  const inform = (name: string, notification: Notification) => {
    const channel = channels.find((each) => each.name === name)
    const attempt = channel?.inform(notification) ?? Effect.fail(new NotInformed({ message: "it is not configured" }))
    return Effect.timeout(attempt, ANSWER_WITHIN).pipe(
      Effect.as(true),
      Effect.catchCause((cause) =>
        Effect.as(Effect.logWarning(`operators were not informed of ${notification.id} by ${name}`, cause), false)
      )
    )
  }

  const advance = Effect.fnUntraced(function* (incident: Incident) {
    const now = yield* Timestamp.now
    const names = channels.map(({ name }) => name)
    if (incident.attemptAt === null || incident.attemptAt > now) return 0
    const targets = toInform(incident, names, now)
    const notification = notificationOf(incident)
    const accepted = yield* Effect.filter(targets, (name) => inform(name, notification), {
      concurrency: "unbounded"
    })
    const after = afterAttempt(incident, accepted, accepted.length < targets.length, now)
    yield* after === undefined ? store.remove(incident) : store.put(after)
    return accepted.length
  })

  const run = Effect.gen(function* () {
    const observation = yield* observe(sources)
    const [now, stored] = [yield* Timestamp.now, yield* store.list]
    const ids = yield* Effect.replicateEffect(Uuid.next, observation.found.length)
    yield* Effect.forEach(
      follow(stored, observation, now, () => ids.pop() ?? ""),
      store.put,
      { discard: true }
    )
    const informed = yield* Effect.forEach(yield* store.list, advance, { concurrency: CONCURRENCY })
    return informed.reduce((sum, count) => sum + count, 0)
  })
  return [{ name: JOB, every: Timestamp.MINUTE, run }] satisfies ReadonlyArray<Job>
})
