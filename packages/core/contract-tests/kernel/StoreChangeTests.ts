import { EventStore, MailboxStore, MessageStore, OperationStore, TenantStore, Transactor } from "@agentos/core"
import { describe } from "@effect/vitest"
import { Effect } from "effect"
import type { ContractTests, HarnessServices } from "../Contract.ts"
import * as Mailboxes from "../email/MailboxSample.ts"
import * as Messages from "../email/MessageSample.ts"
import * as Events from "../events/EventSample.ts"
import * as Fresh from "../Fresh.ts"
import * as Operations from "../payment/OperationSample.ts"
import { StoreClock } from "../StoreClock.ts"
import { type Change, undoneTest } from "./UndoneTests.ts"

type Ports = EventStore | MailboxStore | MessageStore | OperationStore
type R = Ports | HarnessServices | Transactor
type Prepare = Effect.Effect<Change<R>, unknown, R>

const tenantChanges: Readonly<Record<string, Prepare>> = {
  "TenantStore.ensure": Effect.gen(function* () {
    const store = yield* TenantStore
    const candidate = yield* Fresh.candidate
    return { make: store.ensure(candidate), observe: store.findByWallet(candidate.wallet) }
  }),
  "TenantStore.revokeTokens": Effect.gen(function* () {
    const store = yield* TenantStore
    const { tenantId } = yield* Fresh.tenant
    return { make: store.revokeTokens(tenantId), observe: store.find(tenantId) }
  }),
  "TenantStore.useSignIn": Effect.gen(function* () {
    const store = yield* TenantStore
    const clock = yield* StoreClock
    const { tenantId } = yield* Fresh.tenant
    const use = store.useSignIn({ tenantId, nonce: yield* Fresh.word, expiresAt: yield* clock.now })
    const { transact } = yield* Transactor
    // Whether the message is unused, without using it.
    const observe = Effect.flip(transact(Effect.flatMap(use, (unused) => Effect.fail(unused))))
    return { make: use, observe }
  })
}

/** A tenant with two events of which a session has leased the first, and an effect that reads their whole state. */
const inbox = Effect.gen(function* () {
  const store = yield* EventStore
  const { tenantId } = yield* Fresh.tenant
  const events = yield* Events.append(tenantId, 2)
  const session = yield* Fresh.id
  const [delivery] = yield* store.lease(tenantId, session, 1)
  const observe = Effect.all([
    Events.all(tenantId),
    store.latest(tenantId),
    Effect.map(store.replayable(tenantId, 10), Events.ids)
  ])
  return { store, tenantId, events, session, delivery: delivery!, observe }
})

const eventChanges: Readonly<Record<string, Prepare>> = {
  "EventStore.append": Effect.gen(function* () {
    const { observe, tenantId } = yield* inbox
    return { make: Events.append(tenantId, 2), observe }
  }),
  "EventStore.lease": Effect.gen(function* () {
    const { observe, store, tenantId } = yield* inbox
    return { make: store.lease(tenantId, yield* Fresh.id, 9), observe }
  }),
  "EventStore.renew": Effect.gen(function* () {
    const { session, store, tenantId } = yield* inbox
    const clock = yield* StoreClock
    // A renewal shows only when the lease would have expired without it.
    yield* clock.advance(30_000)
    const observe = Effect.gen(function* () {
      yield* clock.advance(20_000)
      const ids = Events.ids(yield* store.replayable(tenantId, 10))
      yield* clock.advance(-20_000)
      return ids
    })
    return { make: store.renew([session]), observe }
  }),
  "EventStore.release": Effect.gen(function* () {
    const { observe, session, store } = yield* inbox
    return { make: store.release([session], "withdrawn"), observe }
  }),
  "EventStore.acknowledge": Effect.gen(function* () {
    const { delivery, events, observe, store, tenantId } = yield* inbox
    const named = { eventId: delivery.event.eventId, deliveryId: delivery.deliveryId }
    return { make: store.acknowledge(tenantId, [named, { eventId: events[1]!.eventId }]), observe }
  }),
  "EventStore.acknowledgeAll": Effect.gen(function* () {
    const { observe, store, tenantId } = yield* inbox
    const clock = yield* StoreClock
    yield* clock.advance(1)
    return { make: store.acknowledgeAll(tenantId, { before: yield* clock.now }), observe }
  })
}

const operationChanges: Readonly<Record<string, Prepare>> = {
  "OperationStore.claim": Effect.gen(function* () {
    const store = yield* OperationStore
    const operation = yield* Operations.operation(yield* Fresh.tenant)
    return { make: store.claim(operation, Operations.LEASE), observe: store.find(operation.operationId) }
  }),
  "OperationStore.advance": Effect.gen(function* () {
    const store = yield* OperationStore
    const operation = yield* Operations.claimed()
    return { make: Operations.moved(operation, "settling"), observe: store.find(operation.operationId) }
  }),
  "OperationStore.takeOver": Effect.gen(function* () {
    const store = yield* OperationStore
    const { fence, operationId } = yield* Operations.claimed()
    yield* store.setNextAttempt(operationId, fence, { kind: "scheduled", millis: 0 })
    return { make: store.takeOver(operationId, Operations.LEASE), observe: store.find(operationId) }
  }),
  "OperationStore.setNextAttempt": Effect.gen(function* () {
    const store = yield* OperationStore
    const { fence, operationId } = yield* Operations.claimed()
    return {
      make: store.setNextAttempt(operationId, fence, { kind: "scheduled", millis: 60_000 }),
      observe: store.find(operationId)
    }
  }),
  "OperationStore.makeDue": Effect.gen(function* () {
    const store = yield* OperationStore
    const { fence, operationId } = yield* Operations.claimed()
    yield* store.setNextAttempt(operationId, fence, { kind: "scheduled", millis: 60_000 })
    return { make: store.makeDue(operationId), observe: store.find(operationId) }
  }),
  "OperationStore.post": Effect.gen(function* () {
    const store = yield* OperationStore
    const { operationId, terms } = yield* Operations.claimed()
    const entry = { operationId, network: terms.network, asset: terms.asset }
    const make = store.post([
      { ...entry, account: "received", amount: -1n },
      { ...entry, account: "inFlight", amount: 1n }
    ])
    const ours = Effect.map(store.books, ({ balances }) => balances.filter(({ asset }) => asset === terms.asset))
    return { make, observe: ours }
  })
}

const emailChanges: Readonly<Record<string, Prepare>> = {
  "MailboxStore.reserve": Effect.gen(function* () {
    const store = yield* MailboxStore
    const { tenantId } = yield* Fresh.tenant
    const [localPart, operationId] = yield* Effect.all([Fresh.word, Fresh.id])
    return { make: store.reserve(localPart, tenantId, operationId), observe: store.isAvailable(localPart, tenantId) }
  }),
  "MailboxStore.release": Effect.gen(function* () {
    const store = yield* MailboxStore
    const { tenantId } = yield* Fresh.tenant
    const [localPart, operationId] = yield* Effect.all([Fresh.word, Fresh.id])
    yield* store.reserve(localPart, tenantId, operationId)
    return { make: store.release(operationId), observe: store.isAvailable(localPart, null) }
  }),
  "MailboxStore.create": Effect.gen(function* () {
    const store = yield* MailboxStore
    const tenant = yield* Fresh.tenant
    const mailbox = yield* Mailboxes.mailbox(tenant)
    const operationId = yield* Fresh.id
    yield* store.reserve(mailbox.localPart, tenant.tenantId, operationId)
    const observe = Effect.all([store.list(tenant.tenantId), store.findActive([mailbox.localPart])])
    return { make: store.create(mailbox, operationId), observe }
  }),
  "MailboxStore.update": Effect.gen(function* () {
    const store = yield* MailboxStore
    const { mailbox, tenantId } = yield* Mailboxes.owner
    return { make: store.update({ ...mailbox, active: false }), observe: store.list(tenantId) }
  }),
  "MailboxStore.remove": Effect.gen(function* () {
    const store = yield* MailboxStore
    const messages = yield* MessageStore
    const { mailbox, tenantId } = yield* Mailboxes.owner
    yield* Messages.stored(mailbox)
    const observe = Effect.all([
      store.list(tenantId),
      messages.list(tenantId, {}, undefined, 10),
      store.isAvailable(mailbox.localPart, tenantId)
    ])
    return { make: store.remove(tenantId, mailbox.mailboxId), observe }
  }),
  "MessageStore.insert": Effect.gen(function* () {
    const store = yield* MessageStore
    const { mailbox, tenantId } = yield* Mailboxes.owner
    const message = yield* Messages.message(mailbox)
    return { make: store.insert([Messages.fresh(message)]), observe: store.find(tenantId, message.messageId) }
  }),
  "MessageStore.suppress": Effect.gen(function* () {
    const store = yield* MessageStore
    const { tenantId } = yield* Fresh.tenant
    const address = `${yield* Fresh.word}@example.org`
    return { make: store.suppress(tenantId, [address], "bounced"), observe: store.findSuppressed(tenantId, [address]) }
  })
}

/** Tests that every change of every store takes part in its transaction. */
export const storeChangeTests: ContractTests<Ports> = (it) => {
  describe("every change of every store", () => {
    const changes = { ...tenantChanges, ...eventChanges, ...operationChanges, ...emailChanges }
    for (const [name, prepare] of Object.entries(changes)) undoneTest<Ports, R>(it, name, prepare)

    undoneTest<Ports, R>(
      it,
      "all of them together",
      Effect.gen(function* () {
        const prepared = yield* Effect.forEach(Object.values(changes), (prepare) => prepare)
        return {
          make: Effect.forEach(prepared, ({ make }) => make),
          observe: Effect.forEach(prepared, ({ observe }) => observe)
        }
      })
    )
  })
}
