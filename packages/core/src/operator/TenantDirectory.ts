import { Effect, Option, Schema } from "effect"
import type { Page } from "../kernel/Page.ts"
import * as PageInput from "../kernel/PageInput.ts"
import { plainText } from "../kernel/PlainText.ts"
import { ResourceNotFound } from "../kernel/ResourceError.ts"
import * as Timestamp from "../kernel/Timestamp.ts"
import { GivenUuid, NIL } from "../kernel/Uuid.ts"
import { type Tenant, type TenantId, walletAddress } from "../tenancy/Tenant.ts"
import { TenantStore } from "../tenancy/TenantStore.ts"
import { type TenantContents, TenantErasureStore } from "./TenantErasureStore.ts"

export const TENANT_LIMIT = 100
const DEFAULT_TENANT_LIMIT = 20
const MATCHING_LIMIT = 320

/** Selects a page of tenants. The cursor of a page is the id of its last tenant. */
export const QueryTenantsInput = Schema.Struct({
  /** A wallet, an id, an address or local part of a mailbox, or a number. */
  matching: Schema.optionalKey(plainText(MATCHING_LIMIT)),
  limit: PageInput.limit({ maximum: TENANT_LIMIT, default: DEFAULT_TENANT_LIMIT }),
  cursor: Schema.optionalKey(GivenUuid)
})
export type QueryTenantsInput = typeof QueryTenantsInput.Type

/** A tenant in its wire format. */
export interface TenantRecord extends Pick<Tenant, "tenantId" | "wallet"> {
  /** In ISO 8601. */
  readonly createdAt: string
  readonly suspension: { readonly at: string; readonly reason: string } | null
}

const toRecord = ({ createdAt, suspension, tenantId, wallet }: Tenant): TenantRecord => ({
  tenantId,
  wallet,
  createdAt: Timestamp.toIso(createdAt),
  suspension: suspension === undefined ? null : { at: Timestamp.toIso(suspension.at), reason: suspension.reason }
})

/** Returns tenants, newest first. */
export const listTenants = Effect.fnUntraced(function* ({
  cursor,
  limit = DEFAULT_TENANT_LIMIT,
  matching
}: QueryTenantsInput): Effect.fn.Return<Page<TenantRecord>, never, TenantStore> {
  const { list } = yield* TenantStore
  const found = yield* list({ matching, before: cursor, limit: limit + 1 })
  const items = found.slice(0, limit).map(toRecord)
  return { items, nextCursor: found.length > limit ? (items.at(-1)?.tenantId ?? null) : null }
})

const WALLET = /^0x[0-9a-f]{40}$/i

/** Finds the tenant that an operator names by its id or its wallet, in any case. */
export const findNamedTenant = ({ find, findByWallet }: TenantStore["Service"], name: string) =>
  WALLET.test(name) ? findByWallet(walletAddress(name)) : find(name.toLowerCase())

/** The same, or fails with `ResourceNotFound`. */
export const requireNamedTenant = Effect.fnUntraced(function* (store: TenantStore["Service"], name: string) {
  const found = yield* findNamedTenant(store, name)
  return Option.isSome(found) ? found.value : yield* new ResourceNotFound({ kind: "tenant", id: name })
})

/** Returns the id of the tenant that an operator names; of an unknown tenant, an id that nothing has. */
export const tenantIdOf = (store: TenantStore["Service"], name: string): Effect.Effect<TenantId> =>
  Effect.map(
    findNamedTenant(store, name),
    Option.match({ onNone: () => NIL as TenantId, onSome: ({ tenantId }) => tenantId })
  )

/** Returns the tenant with this id or wallet, and its counts. */
export const showTenant = Effect.fnUntraced(function* (
  name: string
): Effect.fn.Return<
  TenantRecord & { readonly contents: TenantContents },
  ResourceNotFound,
  TenantStore | TenantErasureStore
> {
  const tenant = yield* requireNamedTenant(yield* TenantStore, name)
  const { countContents } = yield* TenantErasureStore
  return { ...toRecord(tenant), contents: yield* countContents(tenant.tenantId) }
})
