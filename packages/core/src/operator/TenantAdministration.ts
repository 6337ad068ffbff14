import { Context, Effect, Layer, Option } from "effect"
import { MailPolicy, type MailUsage } from "../email/MailPolicy.ts"
import { MailboxStore } from "../email/MailboxStore.ts"
import { MessageStore, type Suppression } from "../email/MessageStore.ts"
import * as SendingQuota from "../email/SendingQuota.ts"
import type { SendingRecord } from "../email/SendingQuota.ts"
import { Suppressions } from "../email/Suppression.ts"
import type { Page } from "../kernel/Page.ts"
import * as Timestamp from "../kernel/Timestamp.ts"
import { Transactor } from "../kernel/Transactor.ts"
import * as CallProgress from "../phone/CallProgress.ts"
import { CallReports } from "../phone/Calls.ts"
import { CallStore } from "../phone/CallStore.ts"
import { PhoneNumberStore } from "../phone/PhoneNumberStore.ts"
import { Credentials } from "../tenancy/Credentials.ts"
import type { Tenant, TenantId, TenantSuspension, WalletAddress } from "../tenancy/Tenant.ts"
import { TenantStore } from "../tenancy/TenantStore.ts"
import { recordChange } from "./Audit.ts"
import { findNamedTenant } from "./TenantDirectory.ts"

/** A tenant and its current usage, for the operator. */
export interface TenantReport {
  readonly tenant: Tenant
  readonly mailboxes: number
  /** Mail stored in these mailboxes. */
  readonly mail: MailUsage
  /** Count of numbers that are not released. */
  readonly numbers: number
  readonly liveCalls: number
  /** The pause of its sending after bounces or complaints, or null. */
  readonly sendingPause: SendingRecord["pause"]
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
     * The wallet gets a new access token by `TokenRecovery`; a purchase without a valid token does not return one.
     */
    readonly revokeTokens: (by: TenantId | WalletAddress) => Effect.Effect<Option.Option<TenantReport>>
    /**
     * Ends the pause of a tenant's sending, and forgets the bounces and complaints that led to it. The daily limit of
     * recipients stays that of a new tenant.
     */
    readonly resumeSending: (by: TenantId | WalletAddress) => Effect.Effect<Option.Option<TenantReport>>
    /** Returns the suppressed addresses of a tenant, as `Suppressions.list` does. */
    readonly listSuppressions: (
      by: TenantId | WalletAddress,
      page: Parameters<Suppressions["Service"]["list"]>[1]
    ) => Effect.Effect<Option.Option<Page<Suppression>>>
    /** Lifts a suppression of a tenant; returns whether the address was suppressed. */
    readonly liftSuppression: (by: TenantId | WalletAddress, address: string) => Effect.Effect<Option.Option<boolean>>
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
      const messages = yield* MessageStore
      const suppressions = yield* Suppressions
      const policy = yield* MailPolicy
      const services = yield* Effect.context<Credentials | Suppressions | Transactor>()

      const findTenant = (by: TenantId | WalletAddress) => findNamedTenant(tenants, by)

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
        const now = yield* Timestamp.now
        const { pause } = SendingQuota.today(policy.sending, yield* messages.findSending(tenant.tenantId), now)
        return {
          tenant,
          mailboxes: owned.length,
          mail,
          numbers: unreleased.length,
          liveCalls: live.length,
          sendingPause: pause
        }
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
            const [locked] = yield* tenants.lock([tenantId])
            if (suspension !== null) yield* endCalls(tenantId)
            yield* recordChange(suspensionOf(locked?.suspension), suspensionOf(suspension), {
              reason: suspension?.reason ?? null
            })
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
          const revoked = yield* Effect.provide(revokeCredentials(tenantId), services)
          yield* Effect.logWarning(`access tokens of tenant ${tenantId} revoked by the operator`)
          return Option.isNone(revoked) ? Option.none() : Option.some(yield* report(revoked.value))
        }),
        resumeSending: Effect.fnUntraced(function* (by) {
          const found = yield* findTenant(by)
          if (Option.isNone(found)) return Option.none()
          const { tenantId } = found.value
          yield* transactor.transact(
            Effect.gen(function* () {
              yield* tenants.lock([tenantId])
              const record = yield* messages.findSending(tenantId)
              if (record !== undefined) yield* messages.putSending(tenantId, { ...record, pause: null })
              yield* recordChange({ sendingPause: record?.pause ?? null }, { sendingPause: null })
              yield* messages.clearFeedback(tenantId)
            })
          )
          yield* Effect.logWarning(`sending of tenant ${tenantId} resumed by the operator`)
          return Option.some(yield* report(found.value))
        }),
        listSuppressions: Effect.fnUntraced(function* (by, page) {
          const found = yield* findTenant(by)
          return Option.isNone(found)
            ? Option.none()
            : Option.some(yield* suppressions.list(found.value.tenantId, page))
        }),
        liftSuppression: Effect.fnUntraced(function* (by, address) {
          const found = yield* findTenant(by)
          if (Option.isNone(found)) return Option.none()
          const { tenantId } = found.value
          const isLifted = yield* Effect.provide(liftSuppression(tenantId, address), services)
          if (isLifted) yield* Effect.logWarning(`a suppression of tenant ${tenantId} lifted by the operator`)
          return Option.some(isLifted)
        })
      })
    })
  )
}

/** Revokes every credential of a tenant, and returns it. */
export const revokeCredentials = Effect.fnUntraced(function* (tenantId: TenantId) {
  const { transact } = yield* Transactor
  const { forget, revoke } = yield* Credentials
  const revoked = transact(Effect.tap(revoke(tenantId), () => recordChange({ tokens: "valid" }, { tokens: "revoked" })))
  return yield* Effect.tap(revoked, () => forget(tenantId))
})

/** Lifts a suppression of a tenant, and returns whether the address was suppressed. */
export const liftSuppression = Effect.fnUntraced(function* (tenantId: TenantId, address: string) {
  const { transact } = yield* Transactor
  const { lift } = yield* Suppressions
  return yield* transact(
    Effect.tap(lift(tenantId, address), (lifted) =>
      // Without the address, which is that of a third person.
      recordChange({ suppressed: lifted }, { suppressed: false })
    )
  )
})

/** The suspension of a tenant, for the audit. */
export const suspensionOf = (suspension: TenantSuspension | null | undefined) => ({
  suspension: suspension ? { at: Timestamp.toIso(suspension.at), reason: suspension.reason } : null
})
