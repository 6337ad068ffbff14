import { type Tenant, TenantStore } from "@agentos/core"
import { Effect, Layer, Option } from "effect"
import { MemoryDatabase } from "./MemoryDatabase.ts"
import { compositeKey } from "./Tables.ts"

/** Tenants in memory. No locks are needed, since transactions run one after the other. */
export const layer = Layer.effect(
  TenantStore,
  Effect.map(MemoryDatabase, ({ run, tables: { mailboxes, phoneNumbers, signIns, tenants } }) => {
    const change = (tenantId: string, to: (tenant: Tenant) => Tenant) =>
      run(() => Option.fromUndefinedOr(tenants.update(tenantId, to)))

    return TenantStore.of({
      ensure: (candidate) =>
        run(() => {
          const [known] = tenants.where("wallet", candidate.wallet)
          if (known === undefined) tenants.set(candidate.tenantId, candidate)
          return known ?? candidate
        }),
      find: (tenantId) => run(() => Option.fromUndefinedOr(tenants.get(tenantId))),
      findTokenVersions: (tenantIds) =>
        run(() => {
          const found = tenantIds.flatMap((tenantId) => tenants.get(tenantId) ?? [])
          const active = found.filter(({ suspension }) => suspension === undefined)
          return new Map(active.map(({ tenantId, tokenVersion }) => [tenantId, tokenVersion]))
        }),
      findByWallet: (wallet) => run(() => Option.fromUndefinedOr(tenants.where("wallet", wallet)[0])),
      list: ({ before, limit, matching }) =>
        run(() => {
          const text = matching?.toLowerCase()
          const [localPart] = text?.split("@") ?? []
          const matches = (tenant: Tenant): boolean =>
            tenant.wallet === text ||
            tenant.tenantId === text ||
            mailboxes.where("tenant", tenant.tenantId).some((mailbox) => mailbox.localPart === localPart) ||
            phoneNumbers
              .where("tenant", tenant.tenantId)
              .some(({ number, state }) => number === text && state !== "released")
          return tenants
            .rows()
            .filter(({ tenantId }) => before === undefined || tenantId < before)
            .filter((tenant) => text === undefined || matches(tenant))
            .toSorted((a, b) => (a.tenantId < b.tenantId ? 1 : -1))
            .slice(0, limit)
        }),
      lock: (tenantIds) =>
        run(() => [...new Set(tenantIds)].toSorted().flatMap((tenantId) => tenants.get(tenantId) ?? [])),
      revokeTokens: (tenantId) => change(tenantId, (tenant) => ({ ...tenant, tokenVersion: tenant.tokenVersion + 1 })),
      setTokenTrust: (tenantId, tokenTrust) => change(tenantId, (tenant) => ({ ...tenant, tokenTrust })),
      useSignIn: ({ expiresAt, nonce, tenantId }) =>
        run(() => signIns.insert(compositeKey(tenantId, nonce), expiresAt)),
      deleteSignIns: (age, limit) =>
        run((now) => {
          const old = signIns.entries().filter(([, expiresAt]) => expiresAt <= now - age)
          const deleted = old.slice(0, limit)
          for (const [key] of deleted) signIns.delete(key)
          return deleted.length
        }),
      setSuspension: (tenantId, suspension) =>
        change(tenantId, ({ suspension: _, ...active }) => (suspension === null ? active : { ...active, suspension }))
    })
  })
)
