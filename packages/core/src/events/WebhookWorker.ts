import { Cause, Effect, Exit, Fiber, Latch, Metric, Result, Semaphore } from "effect"
import { Keyring } from "../kernel/Keyring.ts"
import * as PollingWorker from "../kernel/PollingWorker.ts"
import * as Timestamp from "../kernel/Timestamp.ts"
import * as Trace from "../kernel/Trace.ts"
import { Transactor } from "../kernel/Transactor.ts"
import * as Uuid from "../kernel/Uuid.ts"
import { addToCount } from "../limits/Counts.ts"
import type { TenantId } from "../tenancy/Tenant.ts"
import { TenantStore } from "../tenancy/TenantStore.ts"
import { EventPolicy, toAnyEventRecord } from "./DurableEvent.ts"
import { type Delivery, EventSignal, EventStore } from "./EventStore.ts"
import * as Webhook from "./EventWebhook.ts"
import { WebhookClient, WebhookUnreachable } from "./WebhookClient.ts"
import { webhookPaused } from "./WebhookEvent.ts"
import { type NextLease, WebhookStore, type WebhookLease } from "./WebhookStore.ts"

/** Endpoints that one server leases at a time. Each has one request at a time. */
const LEASES_MAX = 640
/**
 * Those among them that have a slot: an endpoint leaves its slot while it is silent for longer than
 * `SILENT_MILLIS`. So any number of silent endpoints delays the others by a few seconds.
 */
const SLOTS = 128
const SILENT_MILLIS = 2 * Timestamp.SECOND
/** Leases and slots that are reserved for endpoints that answer. */
const RESERVED = 32
/** Requests to one host at a time, for all tenants together, and the delay of an endpoint beyond them. */
const HOST_MAX = 64
const HOST_DELAY = 1 * Timestamp.SECOND
/** Maximum number of concurrent writers, so that requests have connections too. */
const WRITERS = 3
/** The server ends a lease after this time or number of events, so that endpoints share the server. */
const LEASE_MILLIS_MAX = 20 * Timestamp.SECOND
const LEASE_EVENTS_MAX = 100
/** Interval between polls for due retries. New events wake the worker at once. */
const POLL_INTERVAL = "1 second"
/** Wake-ups within this time share a query: most are of tenants without a webhook. */
const WAKE_DELAY = "50 millis"
/** Interval between searches of all endpoints for events whose wake-up was lost, in milliseconds. */
const SEARCH_EVERY = 10 * Timestamp.SECOND

const AT_ONCE: NextLease = { dueIn: 0, isResting: false }

const NO_SECRET =
  "Nothing was sent: the server no longer has the key of the signing secret. Set the webhook again for a new secret."

const attemptsOf = (outcome: Webhook.WebhookAttempt["outcome"]) =>
  Metric.counter("agentos_webhook_attempts_total", {
    description: "Requests of this server to event webhooks, by outcome.",
    attributes: { outcome },
    incremental: true
  })
const paused = Metric.counter("agentos_webhooks_paused_total", {
  description: "Event webhooks that this server paused after three days of failed attempts.",
  incremental: true
})

/**
 * Delivers events to webhooks for as long as it runs. Any number of servers can run it: one at a time serves an endpoint.
 *
 * An endpoint is a session with one request at a time: the oldest deliverable event is leased, posted, and acknowledged by
 * a 2xx answer. After another outcome the event is leased again when its retry is due, and later events are sent
 * meanwhile. At most 64 events wait for a retry; then no other is sent.
 *
 * Silent endpoints delay the others by at most a few seconds: an endpoint keeps its slot for as long as it answers.
 */
export const run = Effect.gen(function* () {
  const store = yield* WebhookStore
  const events = yield* EventStore
  const client = yield* WebhookClient
  const keyring = yield* Keyring
  const signal = yield* EventSignal
  const tenants = yield* TenantStore
  const { transact } = yield* Transactor
  const { leaseDuration } = yield* EventPolicy
  const writers = yield* Semaphore.make(WRITERS)

  const woken = new Set<TenantId>()
  const wakeUp = Latch.makeUnsafe()
  let searchAt = 0
  yield* signal.listen((wake) => {
    if (wake === "all") searchAt = 0
    else for (const tenantId of wake) woken.add(tenantId)
    wakeUp.openUnsafe()
  })

  let freeSlots = SLOTS
  /** Whether due endpoints may have been left behind because no slot was free for them. */
  let isBehind = false
  const freeSlot = (): void => {
    freeSlots++
    if (isBehind) wakeUp.openUnsafe()
  }

  const take = Effect.fnUntraced(function* (freeLeases: number) {
    wakeUp.closeUnsafe()
    const free = Math.min(freeLeases, freeSlots)
    if (free <= 0) {
      isBehind = true
      return []
    }
    const onlyAnswering = free <= RESERVED
    const limit = onlyAnswering ? free : free - RESERVED
    const now = yield* Timestamp.now
    const all = now >= searchAt || (isBehind && !onlyAnswering)
    if (all) searchAt = now + SEARCH_EVERY
    const due = { woken: [...woken], all, onlyAnswering }
    woken.clear()
    const leases = yield* store.take(due, limit, leaseDuration)
    freeSlots -= leases.length
    // Woken tenants that were left behind are found by a search, once slots are free.
    isBehind = onlyAnswering || leases.length >= limit
    if (leases.length >= limit) wakeUp.openUnsafe()
    return leases
  })

  /** Performs a request. The endpoint leaves its slot while it is silent for long. */
  const withoutSlotIfSilent = <A, E, R>(request: Effect.Effect<A, E, R>) =>
    Effect.suspend(() => {
      let hasSlot = true
      const leave = Effect.sync(() => {
        hasSlot = false
        freeSlot()
      })
      return Effect.raceFirst(request, Effect.andThen(Effect.delay(leave, SILENT_MILLIS), Effect.never)).pipe(
        Effect.ensuring(Effect.sync(() => (hasSlot ? undefined : freeSlots--)))
      )
    })

  /** Posts an event with its signature. Without the key of the secret, nothing is sent: an unsigned event proves nothing. */
  const post = Effect.fnUntraced(function* (
    webhook: Webhook.EventWebhook,
    event: Delivery["event"],
    timestamp: Timestamp.Timestamp
  ) {
    const secrets = Webhook.secretsOf(keyring, webhook, timestamp)
    if (secrets.length === 0) {
      const { secret, webhookId } = webhook
      yield* Effect.logWarning(
        `The secret of event webhook ${webhookId} needs key ${secret.keyId}, which has been removed`
      )
      return yield* new WebhookUnreachable({ message: NO_SECRET })
    }
    return yield* client.post({
      url: webhook.url,
      id: event.eventId,
      timestamp,
      body: JSON.stringify(toAnyEventRecord(event)),
      secrets
    })
  })

  /** Posts an event. Returns the attempt and the progress after it, or "exhausted" if the event was retried too long. */
  const attempt = Effect.fnUntraced(function* (
    { webhook }: WebhookLease,
    progress: Webhook.WebhookProgress,
    { event }: Delivery
  ) {
    const startedAt = yield* Timestamp.now
    const posting = Trace.trace("post event", { kind: "client" })(post(webhook, event, startedAt))
    const answer = yield* withoutSlotIfSilent(Effect.result(posting))
    const now = yield* Timestamp.now
    const status = Result.isSuccess(answer) ? answer.success : null
    const isAccepted = status !== null && status >= 200 && status <= 299
    const after = isAccepted
      ? { progress: Webhook.succeeded(progress, event.eventId), nextAttemptAt: null }
      : Webhook.failed(progress, event.eventId, startedAt, now)
    const outcome = isAccepted ? "succeeded" : "failed"
    yield* Metric.update(attemptsOf(outcome), 1)
    const made: Webhook.WebhookAttempt = {
      deliveryId: yield* Uuid.next,
      eventId: event.eventId,
      type: event.type,
      attempt: Webhook.attemptOf(progress, event.eventId),
      createdAt: startedAt,
      durationMillis: Math.max(0, now - startedAt),
      outcome,
      responseStatus: status,
      error: Result.isFailure(answer)
        ? answer.failure.message
        : isAccepted
          ? null
          : `The endpoint answered with status ${status}${status! >= 300 && status! < 400 ? "; redirects are not followed" : ""}.`,
      nextAttemptAt: after === "exhausted" ? null : after.nextAttemptAt
    }
    return { after, made, now }
  })

  /** Commits an attempt. Returns the progress, or undefined if the lease was lost or the endpoint is paused. */
  const commit = Effect.fnUntraced(function* (
    lease: WebhookLease,
    delivery: Delivery,
    { after, made, now }: Effect.Success<ReturnType<typeof attempt>>
  ) {
    const { webhook } = lease
    const { eventId } = delivery.event
    if (after === "exhausted") {
      yield* tenants.lock([webhook.tenantId])
      if (!(yield* store.record(lease, made, Webhook.NO_PROGRESS, "paused"))) return undefined
      yield* events.append([webhookPaused(webhook, now, eventId, made.error ?? "")])
      yield* Metric.update(paused, 1)
      return undefined
    }
    // Whatever happened to the endpoint or the lease meanwhile, the receiver has accepted the event.
    if (made.outcome === "succeeded") yield* events.acknowledge(webhook.tenantId, [{ eventId }])
    return (yield* store.record(lease, made, after.progress, "active")) ? after.progress : undefined
  })

  const serve = Effect.fnUntraced(function* (lease: WebhookLease, sessionId: string) {
    const { tenantId, types } = lease.webhook
    const filter = types === null ? {} : { types }
    const startedAt = yield* Timestamp.now
    let progress = lease.progress
    let next: NextLease | undefined
    for (let sent = 0; next === undefined; sent++) {
      const now = yield* Timestamp.now
      const waiting = Webhook.waitingRetries(progress, now)
      if (sent >= LEASE_EVENTS_MAX || now - startedAt >= LEASE_MILLIS_MAX) {
        next = AT_ONCE
        break
      }
      const except = waiting.map(({ eventId }) => eventId)
      const [delivery] = Webhook.hasRoom(progress, now)
        ? yield* events.lease(tenantId, sessionId, 1, { ...filter, except })
        : []
      if (delivery === undefined) {
        // A due event that is not deliverable was acknowledged, has ended, or another session has it.
        progress = { ...progress, retries: waiting }
        const open = yield* events.list(
          tenantId,
          { ...filter, statuses: ["pending", "delivered"] },
          undefined,
          waiting.length + 1
        )
        const isHeld = Webhook.hasRoom(progress, now) && open.some(({ eventId }) => !except.includes(eventId))
        const delays = [...waiting.map(({ nextAttemptAt }) => nextAttemptAt - now), ...(isHeld ? [leaseDuration] : [])]
        next = { dueIn: delays.length === 0 ? null : Math.min(...delays), isResting: false }
        break
      }
      const attempted = yield* attempt(lease, progress, delivery)
      const after = yield* writers.withPermit(transact(commit(lease, delivery, attempted)))
      if (attempted.made.outcome === "failed") yield* events.release([sessionId], "withdrawn")
      if (after === undefined) return
      progress = after
      if (attempted.made.outcome === "failed") {
        const rest = Webhook.restOf(progress)
        next = { dueIn: rest, isResting: rest > 0 }
      }
    }
    yield* store.finish(lease, next, progress)
  })

  const serveLeased = (lease: WebhookLease) =>
    Effect.flatMap(Uuid.next, (sessionId) =>
      serve(lease, sessionId).pipe(
        PollingWorker.whileLeased({ millis: leaseDuration, renew: store.renew(lease, leaseDuration) }),
        // The server stops, or the store failed: the next lease begins at once, or when this one has lapsed.
        Effect.onError((cause) =>
          Effect.andThen(
            events.release([sessionId], "withdrawn"),
            Cause.hasInterruptsOnly(cause) ? store.finish(lease, AT_ONCE, null) : Effect.void
          )
        )
      )
    )

  /** The webhookIds that this server serves. One whose lease was lost may still wait for an answer. */
  const serving = new Map<string, Fiber.Fiber<void>>()
  const leasesOfHost = new Map<string, number>()

  const handle = (lease: WebhookLease) =>
    Effect.gen(function* () {
      const { url, webhookId } = lease.webhook
      const lost = serving.get(webhookId)
      if (lost !== undefined) yield* Fiber.interrupt(lost)
      const { host } = new URL(url)
      if ((leasesOfHost.get(host) ?? 0) >= HOST_MAX)
        return yield* store.finish(lease, { dueIn: HOST_DELAY, isResting: true }, null)
      addToCount(leasesOfHost, host, 1)
      const served = yield* Effect.forkChild(serveLeased(lease), { startImmediately: true })
      serving.set(webhookId, served)
      const ended = yield* Effect.ensuring(
        Fiber.await(served),
        Effect.sync(() => {
          if (serving.get(webhookId) === served) serving.delete(webhookId)
          addToCount(leasesOfHost, host, -1)
        })
      )
      if (Exit.isFailure(ended) && !Cause.hasInterruptsOnly(ended.cause)) yield* ended
    }).pipe(Effect.ensuring(Effect.sync(freeSlot)))

  return yield* PollingWorker.run({
    name: "event webhooks",
    concurrency: LEASES_MAX,
    interval: POLL_INTERVAL,
    wake: Effect.andThen(wakeUp.await, Effect.sleep(WAKE_DELAY)),
    take,
    handle,
    failed: () => Effect.void
  })
}).pipe(Effect.scoped)
