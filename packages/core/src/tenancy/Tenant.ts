import { Effect, Schema } from "effect"
import { Timestamp } from "../kernel/Timestamp.ts"
import { Uuid } from "../kernel/Uuid.ts"
import { countRefusal } from "../limits/Refusals.ts"

/**
 * The EVM address of a payer: `0x` and 40 hexadecimal digits in lower case, so that every spelling of a wallet is the
 * same tenant. The same address on several EVM networks is the same wallet.
 */
export const WalletAddress = Schema.String.check(Schema.isPattern(/^0x[0-9a-f]{40}$/)).pipe(
  Schema.brand("WalletAddress")
)
export type WalletAddress = typeof WalletAddress.Type

/** Returns the wallet for an address in any spelling. Throws if it is not an address; callers check the shape first. */
export const walletAddress = (address: string): WalletAddress => WalletAddress.make(address.toLowerCase())

/** Maximum length of the reason for a suspension, in characters. */
export const SUSPENSION_REASON_LIMIT = 500

/** The reason for a suspension, as the operator gives it. */
export const SuspendTenantInput = Schema.Struct({
  reason: Schema.String.check(
    Schema.isPattern(/\S/u, { expected: "a text that is not blank" }),
    Schema.isMaxLength(SUSPENSION_REASON_LIMIT)
  )
})

/** Start of a suspension by the operator, and its reason, which the tenant is shown. */
export const TenantSuspension = Schema.Struct({ at: Timestamp, reason: Schema.String })
export type TenantSuspension = typeof TenantSuspension.Type

/**
 * Whether the wallet's owner is known to hold the access token. `unproven`: it was returned for a payment alone, which
 * another site may have obtained. `proven`: the wallet has signed in.
 */
export const TokenTrust = Schema.Literals(["unproven", "proven"])
export type TokenTrust = typeof TokenTrust.Type

/**
 * A paying wallet, which owns resources.
 *
 * `tokenVersion` is part of every credential of the tenant; incrementing it revokes them all.
 */
export const Tenant = Schema.Struct({
  tenantId: Uuid,
  wallet: WalletAddress,
  tokenVersion: Schema.Int,
  createdAt: Timestamp,
  /** Missing until the first access token is returned. */
  tokenTrust: Schema.optionalKey(TokenTrust),
  /** Missing if the tenant is not suspended. */
  suspension: Schema.optionalKey(TenantSuspension)
})
export type Tenant = typeof Tenant.Type
export type TenantId = Uuid

/** The operator has suspended the tenant. The tenant can only read. */
export class TenantSuspended extends Schema.TaggedError<TenantSuspended>()("TenantSuspended", {
  reason: Schema.String
}) {}

/** Fails for a suspended tenant. */
export const requireActive = ({ suspension }: Tenant): Effect.Effect<void, TenantSuspended> =>
  suspension === undefined
    ? Effect.void
    : Effect.andThen(countRefusal("tenant_suspended"), new TenantSuspended({ reason: suspension.reason }))

/** Returns whether the tenant exists and is suspended, and counts a refusal if so. */
export const isSuspended = (tenant: Tenant | undefined): Effect.Effect<boolean> =>
  tenant?.suspension === undefined ? Effect.succeed(false) : Effect.as(countRefusal("tenant_suspended"), true)
