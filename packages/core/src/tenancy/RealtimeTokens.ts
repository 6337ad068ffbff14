import { Context, Effect, Option, Redacted } from "effect"
import * as Timestamp from "../kernel/Timestamp.ts"
import type { TenantId } from "./Tenant.ts"

/** How long a realtime token authenticates a new socket. A session that it opened may last longer. */
export const REALTIME_TOKEN_LIFETIME = 15 * Timestamp.MINUTE

export interface RealtimeTokenClaims {
  readonly tenantId: TenantId
  /** The tenant's token version when the token was made: raising it ends the sessions too. */
  readonly version: number
  readonly expiresAt: Timestamp.Timestamp
}

/**
 * The port that signs and reads realtime tokens: a signed JWT whose audience
 * is the gateway. Verification does not touch the database.
 */
export class RealtimeTokens extends Context.Service<
  RealtimeTokens,
  {
    readonly issue: (claims: RealtimeTokenClaims) => Effect.Effect<Redacted.Redacted<string>>
    /** The claims of an unexpired token of this server's own, or none. */
    readonly verify: (token: string) => Effect.Effect<Option.Option<RealtimeTokenClaims>>
  }
>()("@agentos/core/tenancy/RealtimeTokens") {}
