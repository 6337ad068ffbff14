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

/** Returns the id of the tenant that an operator names by its id or its wallet; one that no tenant has, if none has the wallet. */
export const tenantIdOf = Effect.fnUntraced(function* (
  { findByWallet }: TenantStore["Service"],
  name: string
): Effect.fn.Return<TenantId> {
  if (!name.startsWith("0x")) return name as TenantId
  const found = yield* findByWallet(walletAddress(name))
  return Option.match(found, { onNone: () => NIL as TenantId, onSome: ({ tenantId }) => tenantId })
})

/** Returns the tenant with this id or wallet, and its counts. */
export const showTenant = Effect.fnUntraced(function* (
  name: string
): Effect.fn.Return<
  TenantRecord & { readonly contents: TenantContents },
  ResourceNotFound,
  TenantStore | TenantErasureStore
> {
  const { find, findByWallet } = yield* TenantStore
  const { countContents } = yield* TenantErasureStore
  const found = yield* name.startsWith("0x") ? findByWallet(walletAddress(name)) : find(name)
  if (Option.isNone(found)) return yield* new ResourceNotFound({ kind: "tenant", id: name })
  return { ...toRecord(found.value), contents: yield* countContents(found.value.tenantId) }
})
