import { Array, Context, Duration, Effect, Layer, Option, Redacted, Result, Schema } from "effect"
import { Keyring } from "../kernel/Keyring.ts"
import { makeCache } from "../kernel/Monotonic.ts"
import * as Timestamp from "../kernel/Timestamp.ts"
import * as AccessToken from "./AccessToken.ts"
import { requireActive, type Tenant, type TenantId, type TenantSuspended } from "./Tenant.ts"
import { TenantStore } from "./TenantStore.ts"

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

/**
 * How long a server may continue to accept a token after its revocation on another server. The revoking server
 * refuses the token at once. Tenants are promised 5 seconds.
 */
const TENANT_CACHE_LIFETIME = Duration.seconds(4)
const TENANT_CACHE_SIZE = 10_000

/** A JWT begins with a JSON object in base64url. */
const looksLikeJwt = (token: string): boolean => token.startsWith("eyJ")

const REVOKED = "The access token is revoked."
const REVOKED_OR_SUSPENDED = "The token is revoked, or its tenant is suspended."
const WRONG_REALTIME_TOKEN =
  "The realtime token is not valid or has expired. Get a new one from GET /api/v1/events/realtime-token."

/** The holder of a realtime token. Valid while the tenant has this token version and is not suspended. */
export interface RealtimeHolder {
  readonly tenantId: TenantId
  readonly tokenVersion: number
}

/** Authenticates and issues the credentials of tenants. */
export class Credentials extends Context.Service<
  Credentials,
  {
    /** Returns the access token of a tenant: the same one until it is revoked or the active key changes. */
    readonly accessTokenOf: (tenant: Pick<Tenant, "tenantId" | "tokenVersion">) => Redacted.Redacted<string>
    /** Returns the tenant of an access token. */
    readonly authenticate: (
      accessToken: Redacted.Redacted<string>
    ) => Effect.Effect<Tenant, CredentialRefused | WrongCredential>
    /**
     * Returns the holder of each realtime token, in the given order. Reads the store once for all tokens with a valid
     * signature that have not expired, and not at all without such a token.
     */
    readonly authenticateRealtime: (
      realtimeTokens: ReadonlyArray<Redacted.Redacted<string>>
    ) => Effect.Effect<ReadonlyArray<Result.Result<RealtimeHolder, CredentialRefused | WrongCredential>>>
    /** Issues a realtime token for the tenant, valid for 15 minutes. */
    readonly issueRealtime: (
      tenant: Tenant
    ) => Effect.Effect<
      { readonly token: Redacted.Redacted<string>; readonly expiresAt: Timestamp.Timestamp },
      TenantSuspended
    >
    /** Returns the holders whose credential is revoked or whose tenant is suspended. Reads the store once for all. */
    readonly findRevoked: <Holder extends { readonly tenantId: TenantId; readonly tokenVersion: number }>(
      holders: ReadonlyArray<Holder>
    ) => Effect.Effect<ReadonlyArray<Holder>>
    /** Revokes every credential of the tenant. Returns the updated tenant. */
    readonly revoke: (tenantId: TenantId) => Effect.Effect<Option.Option<Tenant>>
    /** Removes the tenant from this server's cache after a change, so that the store is read again. */
    readonly forget: (tenantId: TenantId) => Effect.Effect<void>
  }
>()("@agentos/core/tenancy/Credentials") {
  static readonly layer = Layer.effect(
    Credentials,
    Effect.gen(function* () {
      const tenants = yield* TenantStore
      const keyring = yield* Keyring
      const realtimeTokens = yield* RealtimeTokens
      const cache = yield* makeCache((tenantId: TenantId) => tenants.find(tenantId), {
        capacity: TENANT_CACHE_SIZE,
        lifetime: TENANT_CACHE_LIFETIME
      })

      /** Claims by their token. Its MAC takes a twentieth of the time of a small read. */
      const opened = new Map<string, AccessToken.AccessTokenClaims>()

      const claimsOf = Effect.fnUntraced(
        function* (token: string) {
          const known = opened.get(token)
          if (known !== undefined) return known
          const claims = Option.getOrUndefined(yield* AccessToken.open(token))
          if (claims === undefined) return undefined
          const [oldest] = opened.size < TENANT_CACHE_SIZE ? [] : opened.keys()
          if (oldest !== undefined) opened.delete(oldest)
          opened.set(token, claims)
          return claims
        },
        Effect.provideService(Keyring, keyring)
      )

      const currentOrRefused = Effect.fnUntraced(function* (tenantId: TenantId, version: number) {
        const tenant = yield* cache.get(tenantId)
        return Option.isSome(tenant) && tenant.value.tokenVersion === version
          ? tenant.value
          : yield* new CredentialRefused({ message: REVOKED })
      })

      const versionsOf = (holders: ReadonlyArray<{ readonly tenantId: TenantId }>) =>
        holders.length === 0
          ? Effect.succeed(new Map<TenantId, number>())
          : tenants.findTokenVersions([...new Set(holders.map(({ tenantId }) => tenantId))])

      return Credentials.of({
        accessTokenOf: ({ tenantId, tokenVersion }) =>
          AccessToken.derive(keyring, { keyId: keyring.activeKeyId, tenantId, version: tokenVersion })!,
        authenticate: Effect.fnUntraced(function* (accessToken) {
          const text = Redacted.value(accessToken)
          const claims = yield* claimsOf(text)
          if (claims !== undefined) return yield* currentOrRefused(claims.tenantId, claims.version)
          return yield* looksLikeJwt(text)
            ? new WrongCredential({
                message: "A realtime token is valid for the WebSocket only. Send the access token here."
              })
            : new CredentialRefused({ message: "The access token is not valid." })
        }),
        authenticateRealtime: Effect.fnUntraced(function* (given) {
          const claims = yield* Effect.forEach(given, (token) => realtimeTokens.verify(Redacted.value(token)), {
            concurrency: "unbounded"
          })
          const versions = yield* versionsOf(Array.getSomes(claims))
          return claims.map((each) => {
            if (Option.isNone(each)) return Result.fail(new WrongCredential({ message: WRONG_REALTIME_TOKEN }))
            const { tenantId, version } = each.value
            return versions.get(tenantId) === version
              ? Result.succeed({ tenantId, tokenVersion: version })
              : Result.fail(new CredentialRefused({ message: REVOKED_OR_SUSPENDED }))
          })
        }),
        issueRealtime: Effect.fnUntraced(function* (tenant) {
          yield* requireActive(tenant)
          const expiresAt = Timestamp.add(yield* Timestamp.now, REALTIME_TOKEN_LIFETIME)
          const token = yield* realtimeTokens.issue({
            tenantId: tenant.tenantId,
            version: tenant.tokenVersion,
            expiresAt
          })
          return { token, expiresAt }
        }),
        findRevoked: (holders) =>
          Effect.map(versionsOf(holders), (versions) =>
            holders.filter(({ tenantId, tokenVersion }) => versions.get(tenantId) !== tokenVersion)
          ),
        forget: (tenantId) => cache.invalidate(tenantId),
        revoke: (tenantId) => Effect.tap(tenants.revokeTokens(tenantId), () => cache.invalidate(tenantId))
      })
    })
  )
}

/** The credential is malformed, unknown or revoked. */
export class CredentialRefused extends Schema.TaggedError<CredentialRefused>()("CredentialRefused", {
  message: Schema.String
}) {}

/** A realtime token in place of an access token, or a credential that is not a valid, unexpired realtime token. */
export class WrongCredential extends Schema.TaggedError<WrongCredential>()("WrongCredential", {
  message: Schema.String
}) {}

/** The operation needs the signature of a wallet. Sign the message of the challenge, and repeat the request with it. */
export class SignInRequired extends Schema.TaggedError<SignInRequired>()("SignInRequired", {
  /** The value of the PAYMENT-REQUIRED header. */
  challenge: Schema.String
}) {}

/** The wallet has signed in, but has bought nothing yet, so that no access token was issued to it. */
export class WalletUnknown extends Schema.TaggedError<WalletUnknown>()("WalletUnknown", { wallet: Schema.String }) {}

/** The sign-in message is not valid: issued for another operation, expired, used before, or signed by another wallet. */
export class SignInRefused extends Schema.TaggedError<SignInRefused>()("SignInRefused", {
  message: Schema.String
}) {}
