import {
  CallStore,
  EventStore,
  InboundMailStore,
  JobStore,
  MailboxStore,
  MessageStore,
  OperationStore,
  PhoneNumberStore,
  RateLimitStore,
  TenantStore,
  Timestamp,
  Uuid,
  walletAddress
} from "@agentos/core"
import { Effect, Option } from "effect"
import { idOf } from "./PlannerDatabase.ts"

export type Ports =
  | CallStore
  | EventStore
  | InboundMailStore
  | JobStore
  | MailboxStore
  | MessageStore
  | OperationStore
  | PhoneNumberStore
  | RateLimitStore
  | TenantStore

/** A statement of a store. `run` prepares it in the same transaction, before the time starts, and returns it. */
export interface Measure {
  readonly name: string
  readonly run: Effect.Effect<Effect.Effect<unknown, never, Ports>, never, Ports>
}

const measure = (name: string, run: Effect.Effect<unknown, never, Ports>): Measure => ({
  name,
  run: Effect.succeed(run)
})

const events = (use: (store: EventStore["Service"]) => Effect.Effect<unknown>) => Effect.flatMap(EventStore, use)
const operations = <A>(use: (store: OperationStore["Service"]) => Effect.Effect<A>) =>
  Effect.flatMap(OperationStore, use)
const mails = (use: (store: InboundMailStore["Service"]) => Effect.Effect<unknown>) =>
  Effect.flatMap(InboundMailStore, use)
const mailboxes = (use: (store: MailboxStore["Service"]) => Effect.Effect<unknown>) => Effect.flatMap(MailboxStore, use)
const messages = (use: (store: MessageStore["Service"]) => Effect.Effect<unknown>) => Effect.flatMap(MessageStore, use)
const numbers = (use: (store: PhoneNumberStore["Service"]) => Effect.Effect<unknown>) =>
  Effect.flatMap(PhoneNumberStore, use)
const calls = (use: (store: CallStore["Service"]) => Effect.Effect<unknown>) => Effect.flatMap(CallStore, use)
const tenants = (use: (store: TenantStore["Service"]) => Effect.Effect<unknown>) => Effect.flatMap(TenantStore, use)

const tenantId = idOf("tenant")
const others = [1, 2, 3, 4].map((n) => idOf("tenant", n))
const operationId = idOf("settling")
const callId = idOf("in_progress")
const wallet = walletAddress(`0x${"0".repeat(40)}`)
const proof = { network: "eip155:196", asset: "0x0a", payer: wallet, nonce: "settling0" }
const leased = { kind: "leased", millis: 15_000 } as const
const LEASE = 15_000

/** Leases 64 events and returns a statement on the session or on the deliveries. */
const onLeased = (
  name: string,
  use: (
    store: EventStore["Service"],
    sessionId: string,
    deliveries: ReadonlyArray<{ readonly eventId: string; readonly deliveryId: string }>
  ) => Effect.Effect<unknown>
): Measure => ({
  name,
  run: Effect.gen(function* () {
    const store = yield* EventStore
    const sessionId = yield* Uuid.next
    const deliveries = yield* store.lease(tenantId, sessionId, 64)
    return use(
      store,
      sessionId,
      deliveries.map(({ deliveryId, event: { eventId } }) => ({ deliveryId, eventId }))
    )
  })
})

/** Every statement that a request, a socket, a mail, a call or a poll causes. */
export const MEASURES: ReadonlyArray<Measure> = [
  measure(
    "events: leaseEach",
    Effect.flatMap(EventStore, (store) =>
      store.leaseEach([tenantId, ...others].map((id) => ({ tenantId: id, sessionId: "session", limit: 64 })))
    )
  ),
  onLeased("events: acknowledgeEach", (store, _, deliveries) =>
    store.acknowledgeEach(deliveries.map((each) => ({ ...each, tenantId })))
  ),
  onLeased("events: renew", (store, sessionId) => store.renew([sessionId])),
  onLeased("events: release", (store, sessionId) => store.release([sessionId], "withdrawn")),
  measure(
    "events: append",
    Effect.gen(function* () {
      const dedupeKey = yield* Uuid.next
      const draft = { source: "smtp", service: "email", resourceId: "a", agentId: "b", payload: {}, dedupeKey }
      return yield* (yield* EventStore).append([{ ...draft, tenantId, type: "email.received" }])
    })
  ),
  measure(
    "events: countReplayableEach",
    events((store) => store.countReplayableEach([tenantId, ...others], 1_000))
  ),
  measure(
    "events: latestEach",
    events((store) => store.latestEach([tenantId, ...others]))
  ),
  measure(
    "events: replayable",
    events((store) => store.replayable(tenantId, 100))
  ),
  measure(
    "events: list",
    events((store) => store.list(tenantId, {}, undefined, 51))
  ),
  measure(
    "events: list pending",
    events((store) => store.list(tenantId, { statuses: ["pending"] }, undefined, 51))
  ),
  measure(
    "events: list of an agent",
    events((store) => store.list(tenantId, { agentId: "agent 4" }, undefined, 51))
  ),
  measure(
    "events: expire",
    events((store) => store.expire(1_000))
  ),
  measure(
    "events: remove",
    events((store) => store.remove(365 * Timestamp.DAY, 1_000))
  ),
  measure(
    "operations: find",
    operations((store) => store.find(operationId))
  ),
  measure(
    "operations: findByKeys",
    operations((store) =>
      store.findByKeys({ proof, endpoint: "POST /api/v1/email/messages", idempotencyKey: "settling0" })
    )
  ),
  measure(
    "operations: setNextAttempt",
    operations((store) => store.setNextAttempt(operationId, 1, leased))
  ),
  {
    name: "operations: advance",
    run: operations((store) =>
      Effect.map(store.find(operationId), (found) =>
        store.advance(Option.getOrThrow(found), { to: "settling", change: {}, next: leased })
      )
    )
  },
  measure(
    "operations: takeOver",
    operations((store) => store.takeOver(operationId, LEASE))
  ),
  measure(
    "operations: takeDue",
    operations((store) => store.takeDue(64, LEASE))
  ),
  measure(
    "operations: countOpen",
    operations((store) => store.countOpen(10_000))
  ),
  measure(
    "operations: listPaid",
    operations((store) => store.listPaid(null, 500))
  ),
  measure(
    "mailboxes: find",
    mailboxes((store) => store.find(tenantId, idOf("mailbox")))
  ),
  measure(
    "mailboxes: findActive",
    mailboxes((store) => store.findActive(["box0", "box1"]))
  ),
  measure(
    "mailboxes: findStandings",
    mailboxes((store) => store.findStandings([idOf("mailbox")]))
  ),
  measure(
    "mailboxes: findSender",
    mailboxes((store) => store.findSender(tenantId, idOf("mailbox"), ["friend@example.com"]))
  ),
  measure(
    "mailboxes: isAvailable",
    mailboxes((store) => store.isAvailable("nobody", tenantId))
  ),
  measure(
    "messages: list of a tenant",
    messages((store) => store.list(tenantId, {}, undefined, 51))
  ),
  measure(
    "messages: list of a mailbox",
    messages((store) => store.list(tenantId, { mailboxId: idOf("mailbox") }, undefined, 51))
  ),
  measure(
    "messages: find",
    messages((store) => store.find(tenantId, idOf("message")))
  ),
  measure(
    "messages: findThreads",
    messages((store) => store.findThreads([idOf("mailbox")], ["<0@else.test>", "<2@else.test>", "<none@else.test>"]))
  ),
  measure(
    "mails: backlog",
    mails((store) => store.backlog(100))
  ),
  measure(
    "mails: lease",
    mails((store) => store.lease(2, LEASE))
  ),
  measure(
    "mails: renew",
    mails((store) => store.renew({ inboundMailId: idOf("waiting"), attempts: 1 }, LEASE))
  ),
  measure(
    "mails: complete",
    mails((store) => store.complete([{ inboundMailId: idOf("waiting"), attempts: 1 }]))
  ),
  measure(
    "mails: findRaw",
    mails((store) => store.findRaw(tenantId, idOf("message")))
  ),
  measure(
    "mails: giveUp",
    mails((store) => store.giveUp({ age: Timestamp.DAY, attempts: 100, limit: 50 }))
  ),
  measure(
    "numbers: list",
    numbers((store) => store.list(idOf("tenant", 1)))
  ),
  measure(
    "numbers: findByNumber",
    numbers((store) => store.findByNumber("active1"))
  ),
  measure(
    "numbers: expired",
    Effect.flatMap(Timestamp.now, (now) => numbers((store) => store.expired(now, 100)))
  ),
  measure(
    "numbers: dueForNotice",
    Effect.flatMap(Timestamp.now, (now) => numbers((store) => store.dueForNotice(now, 100)))
  ),
  measure(
    "numbers: suspended",
    numbers((store) => store.suspended(undefined, 100))
  ),
  measure(
    "calls: get",
    calls((store) => store.get(callId))
  ),
  measure(
    "calls: findByProvider",
    calls((store) => store.findByProvider("in_progress0"))
  ),
  measure(
    "calls: takeWatched",
    calls((store) => store.takeWatched(64, 2_000))
  ),
  measure(
    "calls: live",
    calls((store) => store.live(idOf("active")))
  ),
  measure(
    "calls: recent",
    calls((store) => store.recent(tenantId, Timestamp.Timestamp.make(0), 100))
  ),
  measure(
    "calls: addTurn",
    calls((store) => store.addTurn(callId, { role: "agent", text: "Hello", at: Timestamp.Timestamp.make(1) }))
  ),
  measure(
    "calls: turns",
    calls((store) => store.turns(callId))
  ),
  measure(
    "tenants: find",
    tenants((store) => store.find(tenantId))
  ),
  measure(
    "tenants: findByWallet",
    tenants((store) => store.findByWallet(wallet))
  ),
  measure(
    "tenants: lock",
    tenants((store) => store.lock([tenantId]))
  ),
  measure(
    "tenants: findTokenVersions",
    tenants((store) => store.findTokenVersions([tenantId, ...others]))
  ),
  measure(
    "jobs: take",
    Effect.flatMap(JobStore, (store) => store.take("event-expiry", "due", LEASE))
  ),
  measure(
    "rate limits: exchange",
    Effect.flatMap(RateLimitStore, (store) =>
      store.exchange(
        Array.from({ length: 50 }, (_, n) => ({
          rule: { name: "http.tenant", burst: 60, perSecond: 1, isShared: true },
          subject: `subject ${n}`,
          tokens: 1
        }))
      )
    )
  ),
  measure(
    "rate limits: deleteFull",
    Effect.flatMap(RateLimitStore, (store) => store.deleteFull)
  )
]
