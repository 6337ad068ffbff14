import { Schema } from "effect"
import { Timestamp } from "../kernel/Timestamp.ts"
import { Uuid } from "../kernel/Uuid.ts"

/**
 * An EVM address that pays: `0x` and 40 hexadecimal digits, folded to lower
 * case, so that one wallet is one tenant whatever the spelling. The same
 * address on several EVM networks is the same wallet.
 */
export const WalletAddress = Schema.String.check(Schema.isPattern(/^0x[0-9a-f]{40}$/)).pipe(
  Schema.brand("WalletAddress")
)
export type WalletAddress = typeof WalletAddress.Type

/** The wallet behind an address in any spelling. Throws on what is no address: callers have checked the shape. */
export const walletAddress = (address: string): WalletAddress => WalletAddress.make(address.toLowerCase())

/** Most characters of the reason for a suspension. */
export const SUSPENSION_REASON_LIMIT = 500

/** Since when the operator has suspended a tenant, and why, in words that the tenant is shown. */
export const TenantSuspension = Schema.Struct({ at: Timestamp, reason: Schema.String })
export type TenantSuspension = typeof TenantSuspension.Type

/**
 * A paying wallet and what is its own.
 *
 * `tokenVersion` is part of every credential of the tenant; raising it revokes
 * them all.
 */
export const Tenant = Schema.Struct({
  tenantId: Uuid,
  wallet: WalletAddress,
  tokenVersion: Schema.Int,
  createdAt: Timestamp,
  /** Missing unless the tenant is suspended. */
  suspension: Schema.optionalKey(TenantSuspension)
})
export type Tenant = typeof Tenant.Type
export type TenantId = Uuid
