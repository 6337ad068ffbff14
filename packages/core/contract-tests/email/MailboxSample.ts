import { type Mailbox, MailboxStore, newMailbox, type Tenant, TenantStore, Transactor } from "@agentos/core"
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import * as Fresh from "../Fresh.ts"
import { StoreClock } from "../StoreClock.ts"

/** A mailbox of the tenant with a unique id and local part, unless `parts` say otherwise; not yet stored. */
export const mailbox = Effect.fnUntraced(function* (tenant: Tenant, parts?: Partial<Mailbox>) {
  const clock = yield* StoreClock
  const now = yield* clock.now
  const localPart = parts?.localPart ?? (yield* Fresh.word)
  const [mailboxId, { tenantId }] = [yield* Fresh.id, tenant]
  const made = newMailbox({ mailboxId, tenantId, localPart, domain: "agents.example", createdAt: now })
  return { ...made, ...parts } satisfies Mailbox
})

/** Reserves and stores a mailbox like an operation, under the tenant's lock. */
export const create = Effect.fnUntraced(function* (mailbox: Mailbox) {
  const store = yield* MailboxStore
  const tenants = yield* TenantStore
  const transactor = yield* Transactor
  const operationId = yield* Fresh.id
  yield* transactor.transact(
    Effect.gen(function* () {
      yield* tenants.lock([mailbox.tenantId])
      assert.strictEqual(yield* store.reserve(mailbox.localPart, mailbox.tenantId, operationId), "reserved")
      yield* store.create(mailbox, operationId)
    })
  )
  return mailbox
})

/** A stored mailbox of the tenant. */
export const stored = (tenant: Tenant, parts?: Partial<Mailbox>) => Effect.flatMap(mailbox(tenant, parts), create)

/** A new tenant with a mailbox. */
export const owner = Effect.gen(function* () {
  const tenant = yield* Fresh.tenant
  return { tenant, tenantId: tenant.tenantId, mailbox: yield* stored(tenant) }
})
