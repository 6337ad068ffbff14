import { Effect, Schema } from "effect"
import { serviceEntry } from "../catalog/Catalog.ts"
import { Keyring } from "../kernel/Keyring.ts"
import type { Tenant } from "../tenancy/Tenant.ts"
import { TenantStore } from "../tenancy/TenantStore.ts"
import { AnswerSecret, type ClaimContext } from "./PaidService.ts"

/**
 * Which purchases return the access token of their wallet: the first one of a wallet, and those that carried the token. A
 * payment alone returns no token that exists: whoever made a wallet pay for something else could present the payment here,
 * and would read the wallet's mail.
 */

/**
 * The part of a purchase's plan that says which version of the token its request carried, if any. Operations of older
 * servers lack it.
 */
export const TokenGrantPlan = { tokenVersion: Schema.optionalKey(Schema.Int) }

type Plan = Schema.Struct.Type<typeof TokenGrantPlan>

/** Returns the fields of `TokenGrantPlan` for a claim. */
export const planOf = ({ isAuthenticated, tenant }: ClaimContext): Plan =>
  isAuthenticated ? { tokenVersion: tenant.tokenVersion } : {}

const { method, path } = serviceEntry("auth.token")

/** The call that returns the token to the wallet's owner. */
const SIGN_IN = {
  next: { method, path },
  message:
    "This wallet already has an access token, which a payment alone does not return. Send the token with the next request, or sign in with the wallet to get it, free of charge."
} as const

/** `authentication` in the answer of a purchase. */
export type Authentication = { readonly accessToken: AnswerSecret } | typeof SIGN_IN

/**
 * Returns the function that makes the `authentication` in the answer of a purchase. Call it in the transaction that
 * fulfills the purchase, under the tenant's lock.
 */
export const make: Effect.Effect<
  (tenant: Tenant, plan: Plan) => Effect.Effect<Authentication>,
  never,
  Keyring | TenantStore
> = Effect.gen(function* () {
  const keyring = yield* Keyring
  const tenants = yield* TenantStore
  return Effect.fnUntraced(function* ({ tenantId, tokenTrust, tokenVersion }, carried) {
    // A token that was replaced during the purchase does not open the new one.
    if (tokenTrust !== undefined && carried.tokenVersion !== tokenVersion) return SIGN_IN
    if (tokenTrust === undefined) yield* tenants.setTokenTrust(tenantId, "unproven")
    return {
      accessToken: new AnswerSecret({
        kind: "access-token",
        keyId: keyring.activeKeyId,
        version: tokenVersion,
        subject: tenantId
      })
    }
  })
})
