import { type Tenant, TenantStore, type TenantSuspension, type TokenTrust, walletAddress } from "@agentos/core"
import { Effect, Layer, Option } from "effect"
import { storeClock } from "./ClockOffset.ts"
import { Database } from "./Database.ts"
import { orDie } from "./DatabaseFailure.ts"
import * as Parameter from "./Parameter.ts"
import * as Row from "./Row.ts"
import * as Table from "./Table.ts"

const SUSPENSION = {
  suspendedAt: Table.momentOrNull("suspended_at"),
  suspensionReason: Table.textOrNull("suspension_reason")
}

const TENANTS = Table.table("tenants", {
  tenantId: Table.uuid("tenant_id"),
  wallet: Table.asText(walletAddress, String).column("wallet"),
  tokenVersion: Table.integer("token_version"),
  createdAt: Table.moment("created_at"),
  tokenTrust: Table.textOf<TokenTrust | "unissued">().column("token_trust"),
  ...SUSPENSION
})

type TenantRow = Table.Stored<typeof TENANTS>

const toTenant = (row: TenantRow): Tenant => {
  const { suspendedAt, suspensionReason, tokenTrust, ...tenant } = TENANTS.toRecord(row)
  return {
    ...tenant,
    ...(tokenTrust === "unissued" ? {} : { tokenTrust }),
    ...(suspendedAt === null ? {} : { suspension: { at: suspendedAt, reason: suspensionReason ?? "" } })
  }
}

const suspensionOf = (suspension: TenantSuspension | null) => ({
  suspendedAt: suspension?.at ?? null,
  suspensionReason: suspension?.reason ?? null
})

const first = Row.first(toTenant)

export const layer: Layer.Layer<TenantStore, never, Database> = Layer.effect(
  TenantStore,
  Effect.gen(function* () {
    const { sql } = yield* Database
    const { clock } = yield* storeClock
    const columns = sql.literal(TENANTS.columns)

    const lockByWallet = (wallet: string) =>
      sql<TenantRow>`select ${columns} from tenants where wallet = ${Parameter.text(wallet)} for no key update`

    const ensure = Effect.fnUntraced(function* (candidate: Tenant) {
      const known = yield* first(lockByWallet(candidate.wallet))
      if (Option.isSome(known)) return known.value
      const tokenTrust = candidate.tokenTrust ?? "unissued"
      const stored = { ...candidate, tokenTrust, ...suspensionOf(null) } as const
      const inserted = yield* first(sql<TenantRow>`
        insert into tenants ${Table.insert(sql, Table.valuesOf(TENANTS.fields, stored))}
        on conflict (wallet) do nothing
        returning ${columns}`)
      // If another transaction inserted the tenant first, a new statement reads the row that it committed.
      const tenant = Option.isSome(inserted) ? inserted : yield* first(lockByWallet(candidate.wallet))
      return yield* Option.match(tenant, {
        onNone: () => Effect.die(new Error(`the tenant of wallet ${candidate.wallet} was deleted meanwhile`)),
        onSome: Effect.succeed
      })
    })

    return TenantStore.of({
      ensure,
      find: (tenantId) =>
        first(sql<TenantRow>`select ${columns} from tenants where tenant_id = ${Parameter.uuid(tenantId)}`),
      findTokenVersions: (tenantIds) =>
        Effect.map(
          orDie(sql<Pick<TenantRow, "tenant_id" | "token_version">>`
            select tenant_id, token_version from tenants
            where tenant_id = any(${Parameter.uuids(tenantIds)}) and suspended_at is null`),
          (rows) => new Map(rows.map((row) => [row.tenant_id, row.token_version]))
        ),
      findByWallet: (wallet) =>
        first(sql<TenantRow>`select ${columns} from tenants where wallet = ${Parameter.text(wallet)}`),
      list: ({ before, limit, matching }) => {
        const text = matching?.toLowerCase() ?? null
        const localPart = text === null ? null : (text.split("@")[0] ?? null)
        const found = sql`tenant_id in (
          select tenant_id from tenants where wallet = ${Parameter.text(text)}
          union select tenant_id from tenants where tenant_id = ${Parameter.uuid(text)}
          union select tenant_id from mailboxes where local_part = ${Parameter.text(localPart)}
          union select tenant_id from phone_numbers where unreleased_number = ${Parameter.text(text)}
        )`
        return Row.all(toTenant)(sql<TenantRow>`
          select ${columns} from tenants
          where ${sql.and([sql`tenant_id < ${Parameter.uuid(before ?? Row.MAX)}`, ...(text === null ? [] : [found])])}
          order by tenant_id desc limit ${Parameter.integer(limit)}`)
      },
      lock: (tenantIds) =>
        tenantIds.length === 0
          ? Effect.succeed([])
          : Row.all(toTenant)(sql<TenantRow>`
            select ${columns} from tenants where tenant_id = any(${Parameter.uuids(tenantIds)})
            order by tenant_id for no key update`),
      revokeTokens: (tenantId) =>
        first(sql<TenantRow>`
          update tenants set token_version = token_version + 1 where tenant_id = ${Parameter.uuid(tenantId)}
          returning ${columns}`),
      setTokenTrust: (tenantId, trust) =>
        first(sql<TenantRow>`
          update tenants set token_trust = ${Parameter.text(trust)} where tenant_id = ${Parameter.uuid(tenantId)}
          returning ${columns}`),
      useSignIn: ({ expiresAt, nonce, tenantId }) =>
        Row.any(sql`
          insert into sign_ins (tenant_id, nonce, expires_at)
          values (${Parameter.uuid(tenantId)}, ${Parameter.text(nonce)}, ${Parameter.integer(expiresAt)})
          on conflict (tenant_id, nonce) do nothing
          returning nonce`),
      deleteSignIns: (age, limit) =>
        Row.count(sql`
          with ${clock()},
          old as (
            select tenant_id, nonce from sign_ins
            where expires_at <= (select now from clock) - ${Parameter.integer(age)}::bigint
            order by expires_at limit ${Parameter.integer(limit)} for update of sign_ins skip locked
          )
          delete from sign_ins using old
          where sign_ins.tenant_id = old.tenant_id and sign_ins.nonce = old.nonce
          returning sign_ins.nonce`),
      setSuspension: (tenantId, suspension) =>
        first(sql<TenantRow>`
          update tenants set ${Table.set(sql, Table.valuesOf(SUSPENSION, suspensionOf(suspension)))}
          where tenant_id = ${Parameter.uuid(tenantId)}
          returning ${columns}`)
    })
  })
)
