import {
  Allowance,
  type PhoneNumber,
  PhoneNumberStore,
  type Tenant,
  TenantStore,
  Timestamp,
  Transactor
} from "@agentos/core"
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import * as Fresh from "../Fresh.ts"
import { StoreClock } from "../StoreClock.ts"

/** A unique phone number. */
export const e164: Effect.Effect<string> = Effect.map(Fresh.id, (id) => {
  const random = BigInt(`0x${id.replaceAll("-", "").slice(-16)}`) % 10n ** 14n
  return `+1${random.toString().padStart(14, "0")}`
})

/**
 * A number of the tenant with a unique id and digits, bought just now, unless `parts` say otherwise; not yet
 * stored.
 */
export const phoneNumber = Effect.fnUntraced(function* (tenant: Tenant, parts?: Partial<PhoneNumber>) {
  const clock = yield* StoreClock
  const now = yield* clock.now
  const expiresAt = Timestamp.add(now, Allowance.ENTITLEMENT)
  const made: PhoneNumber = {
    phoneNumberId: yield* Fresh.id,
    tenantId: tenant.tenantId,
    agentId: yield* Fresh.id,
    number: yield* e164,
    country: "US",
    providerNumberId: yield* Fresh.word,
    agentName: "Ada",
    agentWebhookUrl: "https://agents.example/ada",
    description: null,
    beginMessage: null,
    voice: null,
    language: null,
    state: "active",
    suspension: null,
    startedAt: now,
    expiresAt,
    nextNotice: Allowance.firstNotice(expiresAt),
    allowance: Allowance.NO_INBOUND,
    callbackKeyId: 1,
    callbackVersion: 1,
    createdAt: now,
    releasedAt: null,
    ...parts
  }
  return made
})

/** Chooses and stores a number like an operation, under the tenant's lock. */
export const create = Effect.fnUntraced(function* (number: PhoneNumber) {
  const store = yield* PhoneNumberStore
  const tenants = yield* TenantStore
  const { transact } = yield* Transactor
  const operationId = yield* Fresh.id
  assert.strictEqual(yield* store.reserve(number.number, operationId), "reserved")
  yield* transact(Effect.andThen(tenants.lock([number.tenantId]), store.create(number, operationId)))
  return number
})

/** A stored number of the tenant. */
export const stored = (tenant: Tenant, parts?: Partial<PhoneNumber>) =>
  Effect.flatMap(phoneNumber(tenant, parts), create)

/** A new tenant with a number. */
export const owner = Effect.gen(function* () {
  const tenant = yield* Fresh.tenant
  return { tenant, tenantId: tenant.tenantId, number: yield* stored(tenant) }
})

/** Returns the number after its release. */
export const released = (number: PhoneNumber): PhoneNumber => ({
  ...number,
  state: "released",
  suspension: "release_requested",
  nextNotice: null,
  releasedAt: number.createdAt
})
