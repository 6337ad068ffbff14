import { type Tenant, TenantStore, Transactor, Uuid, walletAddress, type WalletAddress } from "@agentos/core"
import { Effect } from "effect"
import { StoreClock } from "./StoreClock.ts"

/** A unique id. */
export const id: Effect.Effect<string> = Uuid.next

/** A unique word of letters and digits: a local part, a name of an asset, a key. */
export const word: Effect.Effect<string> = Effect.map(id, (uuid) => `w${uuid.replaceAll("-", "")}`)

/** A unique wallet. */
export const wallet: Effect.Effect<WalletAddress> = Effect.map(Effect.all([id, id]), ([a, b]) =>
  walletAddress(`0x${(a + b).replaceAll("-", "").slice(-40)}`)
)

/** A tenant at its first payment, not yet stored. */
export const candidate: Effect.Effect<Tenant, never, StoreClock> = Effect.gen(function* () {
  const clock = yield* StoreClock
  return { tenantId: yield* id, wallet: yield* wallet, tokenVersion: 1, createdAt: yield* clock.now }
})

/** A new stored tenant. */
export const tenant: Effect.Effect<Tenant, never, StoreClock | TenantStore | Transactor> = Effect.gen(function* () {
  const tenants = yield* TenantStore
  const transactor = yield* Transactor
  return yield* transactor.transact(tenants.ensure(yield* candidate))
})
