import { Context, Effect, Layer, Option } from "effect"
import type { MailUsage } from "../email/MailPolicy.ts"
import { MailboxStore } from "../email/MailboxStore.ts"
import * as Timestamp from "../kernel/Timestamp.ts"
import { Transactor } from "../kernel/Transactor.ts"
import * as CallProgress from "../phone/CallProgress.ts"
import { CallReports } from "../phone/Calls.ts"
import { CallStore } from "../phone/CallStore.ts"
import { PhoneNumberStore } from "../phone/PhoneNumberStore.ts"
import { Credentials } from "../tenancy/Credentials.ts"
import type { Tenant, TenantId, TenantSuspension, WalletAddress } from "../tenancy/Tenant.ts"
import { TenantStore } from "../tenancy/TenantStore.ts"

/** A tenant and its current usage, for the operator. */
export interface TenantReport {
  readonly tenant: Tenant
  readonly mailboxes: number
  /** Mail stored in these mailboxes. */
  readonly mail: MailUsage
  /** Count of numbers that are not released. */
  readonly numbers: number
  readonly liveCalls: number
}

/** The operator's actions on tenants. */
export class TenantAdministration extends Context.Service<
  TenantAdministration,
  {
    readonly find: (by: TenantId | WalletAddress) => Effect.Effect<Option.Option<TenantReport>>
    /**
     * Suspends a tenant and ends its calls, in one transaction. From then on every server refuses its paid operations,
     * its calls and its mail, inbound and outbound; its sockets close within 5 s. A repeated call changes the reason.
     */
    readonly suspend: (by: TenantId | WalletAddress, reason: string) => Effect.Effect<Option.Option<TenantReport>>
    readonly resume: (by: TenantId | WalletAddress) => Effect.Effect<Option.Option<TenantReport>>
    /**
     * Revokes every credential of a tenant. Every server refuses them, and closes their realtime sessions, within 5 s.
     * The wallet gets a new access token by `TokenRecovery`, or with its next purchase by a start-here service.
     */
    readonly revokeTokens: (by: TenantId | WalletAddress) => Effect.Effect<Option.Option<TenantReport>>
  }
>()("@agentos/core/operator/TenantAdministration") {
  static readonly layer = Layer.effect(
    TenantAdministration,
    Effect.gen(function* () {
      const tenants = yield* TenantStore
      const credentials = yield* Credentials
      const mailboxes = yield* MailboxStore
      const numbers = yield* PhoneNumberStore
      const calls = yield* CallStore
      const reports = yield* CallReports
      const transactor = yield* Transactor

      const findTenant = (by: TenantId | WalletAddress) => (isWallet(by) ? tenants.findByWallet(by) : tenants.find(by))

      const liveCalls = Effect.fnUntraced(function* (tenantId: TenantId) {
        const owned = yield* numbers.list(tenantId)
        const unreleased = owned.filter(({ state }) => state !== "released")
        return { unreleased, live: yield* calls.liveEach(unreleased.map(({ phoneNumberId }) => phoneNumberId)) }
      })

      const report = Effect.fnUntraced(function* (tenant: Tenant): Effect.fn.Return<TenantReport> {
        const { live, unreleased } = yield* liveCalls(tenant.tenantId)
        const owned = yield* mailboxes.list(tenant.tenantId)
        const standings = yield* mailboxes.findStandings(owned.slice(0, 1).map(({ mailboxId }) => mailboxId))
        const mail = [...standings.values()][0]?.tenantUsage ?? { messages: 0, bytes: 0 }
        return { tenant, mailboxes: owned.length, mail, numbers: unreleased.length, liveCalls: live.length }
      })

      /** Requests the hangup of all calls. The call watch, on any server, then ends each at the carrier. */
      const endCalls = Effect.fnUntraced(function* (tenantId: TenantId) {
        const { live } = yield* liveCalls(tenantId)
        yield* Effect.forEach(
          live,
          ({ callId }) => reports.change(callId, (call, now) => CallProgress.requestHangUp(call, "hangup_agent", now)),
          { discard: true }
        )
      })

      const change = Effect.fnUntraced(function* (by: TenantId | WalletAddress, suspension: TenantSuspension | null) {
        const found = yield* findTenant(by)
        if (Option.isNone(found)) return Option.none()
        const { tenantId } = found.value
        const changed = yield* transactor.transact(
          Effect.gen(function* () {
            yield* tenants.lock([tenantId])
            if (suspension !== null) yield* endCalls(tenantId)
            return yield* tenants.setSuspension(tenantId, suspension)
          })
        )
        yield* credentials.forget(tenantId)
        yield* Effect.logWarning(
          suspension === null
            ? `tenant ${tenantId} resumed by the operator`
            : `tenant ${tenantId} suspended by the operator: ${suspension.reason}`
        )
        return Option.isNone(changed) ? Option.none() : Option.some(yield* report(changed.value))
      })

      return TenantAdministration.of({
        find: Effect.fnUntraced(function* (by) {
          const found = yield* findTenant(by)
          return Option.isNone(found) ? Option.none() : Option.some(yield* report(found.value))
        }),
        suspend: Effect.fnUntraced(function* (by, reason) {
          return yield* change(by, { at: yield* Timestamp.now, reason })
        }),
        resume: (by) => change(by, null),
        revokeTokens: Effect.fnUntraced(function* (by) {
          const found = yield* findTenant(by)
          if (Option.isNone(found)) return Option.none()
          const { tenantId } = found.value
          const revoked = yield* credentials.revoke(tenantId)
          yield* Effect.logWarning(`access tokens of tenant ${tenantId} revoked by the operator`)
          return Option.isNone(revoked) ? Option.none() : Option.some(yield* report(revoked.value))
        })
      })
    })
  )
}

const isWallet = (by: TenantId | WalletAddress): by is WalletAddress => by.startsWith("0x")
