import { Context, Effect, Layer, Option, type Redacted } from "effect"
import { WebhookStore } from "../events/WebhookStore.ts"
import { Keyring } from "../kernel/Keyring.ts"
import { ProviderUnavailable } from "../kernel/ProviderError.ts"
import type { InvalidRequest } from "../kernel/ResourceError.ts"
import * as Timestamp from "../kernel/Timestamp.ts"
import { Transactor } from "../kernel/Transactor.ts"
import { Credentials, SignInRefused, SignInRequired, WalletUnknown } from "../tenancy/Credentials.ts"
import * as SignIn from "../tenancy/SignIn.ts"
import type { Tenant, TenantId } from "../tenancy/Tenant.ts"
import { TenantStore } from "../tenancy/TenantStore.ts"
import { OperationStore } from "./OperationStore.ts"

const RETRY_AFTER_SECONDS = 5

/** A wallet's tenant, with the message that the wallet signed and has not used yet. */
export interface SignedIn {
  readonly tenant: Tenant
  readonly terms: SignIn.SignInTerms
}

/** Returns and revokes the access tokens of wallets that sign in. A message is accepted once, on one server. */
export class TokenRecovery extends Context.Service<
  TokenRecovery,
  {
    /**
     * Fails with the challenge that a wallet signs to call the operation. `requester` is the client of the request by its
     * network address: no other client can use the signature.
     */
    readonly challenge: (resource: SignIn.SignInResource, requester: string) => Effect.Effect<never, SignInRequired>
    /**
     * Returns the tenant of the wallet that signed the message in the header, and changes nothing. Fails with
     * `WalletUnknown` for a wallet without a fulfilled purchase: no token was issued to it. Fails with
     * `ProviderUnavailable` if the chain of a smart account can't be read.
     */
    readonly signIn: (
      resource: SignIn.SignInResource,
      header: string,
      requester: string
    ) => Effect.Effect<SignedIn, InvalidRequest | SignInRefused | WalletUnknown | ProviderUnavailable>
    /**
     * Uses the message, and returns the tenant's access token. The first sign-in of a wallet replaces a token that was
     * returned for a payment alone, since others may know it, unless the request carries that token: `held`, the tenant
     * of the request's token. With it, the first sign-in pauses the event webhook that they may have set.
     */
    readonly recover: (
      signedIn: SignedIn,
      held: Tenant | null
    ) => Effect.Effect<Redacted.Redacted<string>, SignInRefused>
    /**
     * Uses the message and revokes every credential of the tenant, in one transaction. Returns the new access token.
     * Every server refuses the older ones, and closes their realtime sessions, within 5 seconds.
     */
    readonly revoke: (signedIn: SignedIn) => Effect.Effect<Redacted.Redacted<string>, SignInRefused>
  }
>()("@agentos/core/payment/TokenRecovery") {
  static readonly layer = Layer.effect(
    TokenRecovery,
    Effect.gen(function* () {
      const keyring = yield* Keyring
      const protocol = yield* SignIn.SignInProtocol
      const tenants = yield* TenantStore
      const operations = yield* OperationStore
      const credentials = yield* Credentials
      const transactor = yield* Transactor
      const webhooks = yield* WebhookStore

      /** Marks the message as used and makes a change, under the tenant's lock. */
      const once = ({ tenant: { tenantId }, terms }: SignedIn, change: Effect.Effect<Option.Option<Tenant>>) =>
        transactor.transact(
          Effect.gen(function* () {
            yield* tenants.lock([tenantId])
            if (!(yield* tenants.useSignIn({ tenantId, nonce: terms.nonce, expiresAt: terms.expiresAt }))) {
              return yield* new SignInRefused({ message: "The sign-in message was already used" })
            }
            return credentials.accessTokenOf(Option.getOrThrow(yield* change))
          })
        )

      /** Makes the token worthless to its holders, and the wallet its only owner. */
      const replace = (tenantId: TenantId) =>
        Effect.andThen(tenants.revokeTokens(tenantId), tenants.setTokenTrust(tenantId, "proven"))

      /**
       * Pauses the event webhook, whose receiver would learn senders and subjects without a token, and replaces its secret,
       * which those who set it know.
       */
      const pauseWebhook = Effect.fnUntraced(function* (tenantId: TenantId) {
        const found = yield* webhooks.find(tenantId)
        if (Option.isNone(found)) return
        const { pausedAt, secret, ...webhook } = found.value
        const now = yield* Timestamp.now
        const paused = { state: "paused", updatedAt: now, pausedAt: pausedAt ?? now } as const
        const replaced = { secret: { keyId: keyring.activeKeyId, version: secret.version + 1 }, previousSecret: null }
        yield* webhooks.set({ ...webhook, ...paused, ...replaced }, true)
      })

      const prove = Effect.fnUntraced(function* (tenantId: TenantId, held: Tenant | null) {
        const found = yield* tenants.find(tenantId)
        const { tokenTrust, tokenVersion } = Option.getOrThrow(found)
        if (tokenTrust === "proven") return found
        const isHeld = held?.tenantId === tenantId && held.tokenVersion === tokenVersion
        if (isHeld) return yield* tenants.setTokenTrust(tenantId, "proven")
        yield* pauseWebhook(tenantId)
        return yield* replace(tenantId)
      })

      return TokenRecovery.of({
        challenge: Effect.fnUntraced(
          function* (resource, requester) {
            const terms = yield* SignIn.issue(resource, requester)
            return yield* new SignInRequired({ challenge: protocol.encodeChallenge(resource, terms) })
          },
          Effect.provideService(Keyring, keyring)
        ),
        signIn: Effect.fnUntraced(
          function* (resource, header, requester) {
            const message = yield* protocol.decode(header)
            yield* SignIn.check(resource, message.terms, requester)
            const wallet = yield* Effect.catchTag(
              protocol.authenticate(message),
              "ProviderError",
              ({ message: why }) => new ProviderUnavailable({ message: why, retryAfterSeconds: RETRY_AFTER_SECONDS })
            )
            const tenant = yield* tenants.findByWallet(wallet)
            if (Option.isNone(tenant) || !(yield* operations.hasFulfilled(wallet))) {
              return yield* new WalletUnknown({ wallet })
            }
            return { tenant: tenant.value, terms: message.terms }
          },
          Effect.provideService(Keyring, keyring)
        ),
        recover: (signedIn, held) => {
          const { tenantId, tokenTrust } = signedIn.tenant
          const recovered = once(signedIn, prove(tenantId, held))
          return tokenTrust === "proven" ? recovered : Effect.tap(recovered, () => credentials.forget(tenantId))
        },
        revoke: (signedIn) => {
          const { tenantId } = signedIn.tenant
          const pause = signedIn.tenant.tokenTrust === "proven" ? Effect.void : pauseWebhook(tenantId)
          return once(signedIn, Effect.andThen(pause, replace(tenantId))).pipe(
            Effect.tap(() => credentials.forget(tenantId)),
            Effect.tap(() => Effect.logWarning(`access tokens of tenant ${tenantId} revoked by its wallet`))
          )
        }
      })
    })
  )
}
