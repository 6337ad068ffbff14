import { OnboardingRequired, ServiceUnavailable } from "@agentos/api"
import {
  type Capabilities,
  type CatalogEntry,
  CredentialRefused,
  Credentials,
  onboardingService,
  type Tenant,
  type WrongCredential
} from "@agentos/core"
import { Effect, Redacted } from "effect"
import { HttpServerRequest } from "effect/http"

/** The reason why a caller is refused. */
export type CallerError = OnboardingRequired | ServiceUnavailable | CredentialRefused | WrongCredential

/** RFC 6750, section 2.1; the scheme is case-insensitive (RFC 9110, section 11.1). */
const BEARER = /^bearer +(\S+)$/i

const malformed = new CredentialRefused({
  message: "Authorization must have the form Bearer <ACCESS_TOKEN>."
})

const openToken = Effect.fnUntraced(function* (authorization: string) {
  const token = BEARER.exec(authorization)?.[1]
  if (token === undefined) return yield* malformed
  const credentials = yield* Credentials
  return yield* credentials.authenticate(Redacted.make(token))
})

/** Returns the tenant of the request's token, for an operation that requires one. */
export const requireTenant = (
  entry: CatalogEntry,
  capabilities: Capabilities
): Effect.Effect<Tenant, CallerError, Credentials | HttpServerRequest.HttpServerRequest> =>
  Effect.flatMap(HttpServerRequest.HttpServerRequest, ({ headers }): Effect.Effect<Tenant, CallerError, Credentials> =>
    headers["authorization"] === undefined
      ? Effect.fail(missingToken(entry, capabilities))
      : openToken(headers["authorization"])
  )

/** A server without a start-here service can issue no token. */
const missingToken = (entry: CatalogEntry, capabilities: Capabilities): OnboardingRequired | ServiceUnavailable => {
  const startWith = onboardingService(entry, capabilities)
  return startWith === undefined
    ? new ServiceUnavailable({ ever: true })
    : new OnboardingRequired({ startWith: startWith.serviceId })
}

/** Returns the tenant of the request's token, or null without one, for an operation that requires none. */
export const findTenant: Effect.Effect<Tenant | null, CallerError, Credentials | HttpServerRequest.HttpServerRequest> =
  Effect.flatMap(HttpServerRequest.HttpServerRequest, ({ headers }) =>
    headers["authorization"] === undefined ? Effect.succeed(null) : openToken(headers["authorization"])
  )
