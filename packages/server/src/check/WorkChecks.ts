import { LATE_SECONDS, type SalesStop, type StoreFigures } from "@agentos/core"
import { type Check, failed, type Finding, passed, warned } from "@agentos/node/command-line"

/** Work that waits: its number, and since when the oldest of it does, in milliseconds. */
interface Waiting {
  readonly count: number
  readonly since: number | null
}

type Severity = typeof failed | typeof warned

/** Formats a duration in milliseconds by its largest unit. */
const shown = (millis: number): string => {
  const seconds = Math.round(millis / 1_000)
  if (seconds < 120) return `${seconds} s`
  return seconds < 7_200 ? `${Math.floor(seconds / 60)} min` : `${Math.floor(seconds / 3_600)} h`
}

/** Judges a queue by the time that its oldest item waits. */
const queueFinding = (
  { count, since }: Waiting,
  now: number,
  lateSeconds: number,
  severity: Severity,
  fix: string
): Finding => {
  if (count === 0) return passed("none")
  const waits = Math.max(0, now - (since ?? now))
  const detail = `${count}, the oldest since ${shown(waits)}`
  return waits > lateSeconds * 1_000 ? severity(detail, fix) : passed(detail)
}

const openIn = ({ open }: StoreFigures, states: ReadonlyArray<string>): Waiting => {
  const found = open.filter(({ state }) => states.includes(state))
  return {
    count: found.reduce((sum, { count }) => sum + count, 0),
    since: found.length === 0 ? null : Math.min(...found.map(({ oldestAt }) => oldestAt))
  }
}

const LEDGER_JOB = "ledger-audit"

const ledgerFinding = ({ jobs }: StoreFigures, now: number): Finding => {
  const audit = jobs.find(({ name }) => name === LEDGER_JOB)
  if (audit === undefined || (audit.failure === null && audit.succeededAt === null))
    return warned("was not compared yet", `agentos-server jobs run ${LEDGER_JOB}`)
  if (audit.failure !== null)
    return failed(
      audit.failure,
      "agentos-server ledger has the report. /docs/operate#ledger-problems explains each line."
    )
  const ago = shown(now - (audit.succeededAt ?? now))
  return passed(
    `its sums in the database equal the operations ${ago} ago; agentos-server ledger compares the whole chain`
  )
}

const jobsFinding = ({ jobs }: StoreFigures, now: number): Finding => {
  const late = jobs.filter(
    ({ dueAt, leasedUntil }) => (leasedUntil ?? 0) <= now && now - dueAt > LATE_SECONDS.job * 1_000
  )
  const listed = late.map(({ dueAt, name }) => `${name} since ${shown(now - dueAt)}`)
  if (late.length > 0)
    return failed(`due without a run: ${listed.join(", ")}`, "Start a server that runs jobs, one without --no-jobs.")
  const failing = jobs.filter(({ failure, name }) => failure !== null && name !== LEDGER_JOB)
  if (failing.length > 0)
    return warned(
      `failed last: ${failing.map(({ failure, name }) => `${name}: ${failure}`).join("; ")}`,
      "Repair the cause. They run again by themselves."
    )
  return jobs.length === 0 ? warned("no job has run yet", "Start a server that runs jobs.") : passed("in time")
}

const salesFinding = (stops: ReadonlyArray<SalesStop>): Finding =>
  stops.length === 0
    ? passed("every service is on sale")
    : warned(
        `stopped: ${stops.map(({ reason, scope }) => `${scope} (${reason})`).join("; ")}`,
        "agentos-server sell start, once the reason has passed"
      )

const RESTORE = "Restore the provider that the checks of connections name. Operations go on by themselves."

/** Longer than an attempt takes that a provider answers. The alert for whole services waits an hour. */
const ATTEMPT_SECONDS = 60
const NOT_PERFORMED =
  "Their relay or carrier has not done it yet. agentos-server operations list --state fulfilling has its answer. Restore it; they go on by themselves."

/** Judges the work of all servers. */
export const workChecks = (
  figures: StoreFigures,
  stops: ReadonlyArray<SalesStop>,
  now: number
): ReadonlyArray<Check> => {
  const { failingMails, mails, waiting, webhooks } = figures
  const refunds = queueFinding(
    openIn(figures, ["refund_due"]),
    now,
    LATE_SECONDS.refund,
    failed,
    "Send to the refund wallet what its line says, or configure one. agentos-server operations list --state refund_due"
  )
  const payments = queueFinding(
    openIn(figures, ["claimed", "settling", "refused", "settled"]),
    now,
    LATE_SECONDS.payment,
    failed,
    `${RESTORE} Never pay such an operation back by hand. agentos-server operations list`
  )
  const deliveries = queueFinding(openIn(figures, ["fulfilling"]), now, ATTEMPT_SECONDS, warned, NOT_PERFORMED)
  const outbound = queueFinding(
    { count: waiting.scheduled + waiting.deferred, since: waiting.firstDueAt },
    now,
    LATE_SECONDS.message,
    warned,
    "Restore the relay, or start another server that runs jobs."
  )
  const inbound =
    failingMails.count > 0
      ? failed(
          `${failingMails.count} can't be delivered. The oldest: ${failingMails.failure}`,
          "Repair the cause. They are tried again every minute. agentos-server mail inbound list"
        )
      : queueFinding(mails, now, LATE_SECONDS.message, warned, "Start a server that delivers mail.")
  const events = queueFinding(webhooks, now, LATE_SECONDS.message, warned, "Start another server that runs jobs.")
  return [
    { name: "refunds due", ...refunds },
    { name: "payments under way", ...payments },
    { name: "purchases under way", ...deliveries },
    { name: "outbound mail", ...outbound },
    { name: "inbound mail", ...inbound },
    { name: "event webhooks", ...events },
    { name: "ledger", ...ledgerFinding(figures, now) },
    { name: "jobs", ...jobsFinding(figures, now) },
    { name: "sales", ...salesFinding(stops) }
  ]
}
