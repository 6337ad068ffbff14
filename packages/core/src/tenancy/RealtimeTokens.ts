import { Context, Effect, Option, Redacted } from "effect"
import * as Timestamp from "../kernel/Timestamp.ts"
import type { TenantId } from "./Tenant.ts"

/** How long a realtime token authenticates a new socket. A session that it opened may last longer. */
export const REALTIME_TOKEN_LIFETIME = 15 * Timestamp.MINUTE

export interface RealtimeTokenClaims {
  readonly tenantId: TenantId
  /** The tenant's token version when the token was issued. A higher one also ends the token's sessions. */
  readonly version: number
  readonly expiresAt: Timestamp.Timestamp
}

/**
 * The port that signs and verifies realtime tokens: JWTs whose audience is the gateway. Verification does not use the
 * database.
 */
export class RealtimeTokens extends Context.Service<
  RealtimeTokens,
  {
    readonly issue: (claims: RealtimeTokenClaims) => Effect.Effect<Redacted.Redacted<string>>
    /** Returns the claims of an unexpired token issued by this server, or none. */
    readonly verify: (token: string) => Effect.Effect<Option.Option<RealtimeTokenClaims>>
  }
>()("@agentos/core/tenancy/RealtimeTokens") {}
