import { Effect } from "effect"
import { InboundMailStore, NO_MESSAGE_YET } from "../email/InboundMail.ts"
import { MessageRetryStore, type WaitingMessages } from "../email/MessageStore.ts"
import { WebhookStore } from "../events/WebhookStore.ts"
import { type JobRecord, JobStore } from "../jobs/JobStore.ts"
import type { Backlog } from "../kernel/Backlog.ts"
import { type OpenOperations, OperationStore } from "../payment/OperationStore.ts"

/** Up to how many rows of a kind are counted. */
export const FIGURES_LIMIT = 10_000

const FAILING_LIMIT = 1_000

/** How late work may be before an operator must know, in seconds: as in the alerts of `deploy/prometheus/alerts.yaml`. */
export const LATE_SECONDS = { refund: 600, payment: 600, delivery: 3_600, message: 600, job: 300 } as const

/** The work of all servers. */
export interface StoreFigures {
  /** Of each job that ever ran. */
  readonly jobs: ReadonlyArray<JobRecord>
  readonly open: ReadonlyArray<OpenOperations>
  readonly waiting: WaitingMessages
  /** Accepted mails that no mailbox has yet. */
  readonly mails: Backlog
  /** Those of them whose last delivery failed, up to 1,000, with the failure of the oldest. */
  readonly failingMails: { readonly count: number; readonly failure: string | null }
  /** Event webhooks with an event to send now. */
  readonly webhooks: Backlog
}

/** Reads the figures by one bounded query each. */
export const readFigures = Effect.gen(function* () {
  const jobs = yield* JobStore
  const operations = yield* OperationStore
  const messages = yield* MessageRetryStore
  const mails = yield* InboundMailStore
  const webhooks = yield* WebhookStore
  const failingMails = Effect.map(mails.listQueued({ hasFailed: true, limit: FAILING_LIMIT }), (queued) => {
    const failing = queued.filter(({ failure }) => failure !== NO_MESSAGE_YET)
    return { count: failing.length, failure: failing[0]?.failure ?? null }
  })
  return yield* Effect.all(
    {
      jobs: jobs.list,
      open: operations.countOpen(FIGURES_LIMIT),
      waiting: messages.countWaiting(FIGURES_LIMIT),
      mails: mails.backlog(FIGURES_LIMIT),
      failingMails,
      webhooks: webhooks.backlog(FIGURES_LIMIT)
    },
    { concurrency: "unbounded" }
  )
})
