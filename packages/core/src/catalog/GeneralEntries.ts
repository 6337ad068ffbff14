import type { CatalogRow } from "./CatalogRow.ts"
import { BEARER_ERRORS, SIGN_IN_ERRORS } from "./CommonErrors.ts"

/** A free operation for everybody, and one of a tenant, that read. */
const PUBLIC = { method: "GET", price: null, authentication: "none", capability: "always" } as const
const READ = { ...PUBLIC, authentication: "bearer" } as const

/** The operations for discovering the API, free and without authentication. */
export const DISCOVERY_ENTRIES = [
  {
    ...PUBLIC,
    operationId: "describeApi",
    serviceId: "discovery.api",
    path: "/api/v1",
    guide: "/docs#discovery",
    purpose: "Returns the compact catalog: services, prices, authentication rules and links to the guides.",
    errors: ["RATE_LIMITED"],
    nextActions: [
      { serviceId: "discovery.services", why: "Read the full record of each service." },
      { serviceId: "email.mailbox.create", why: "Create a mailbox and get the access token." }
    ]
  },
  {
    ...PUBLIC,
    operationId: "listServices",
    serviceId: "discovery.services",
    path: "/api/v1/services",
    guide: "/docs#discovery",
    purpose: "Lists all services, each with its price, inputs, errors and next actions.",
    errors: ["RATE_LIMITED"],
    nextActions: [{ serviceId: "email.mailbox.create", why: "Start with a service that needs no token." }]
  },
  {
    ...PUBLIC,
    operationId: "getService",
    serviceId: null,
    path: "/api/v1/services/{serviceId}",
    guide: "/docs#discovery",
    purpose: "Returns the record of one service.",
    errors: ["RESOURCE_NOT_FOUND", "RATE_LIMITED"],
    nextActions: [{ serviceId: "discovery.services", why: "List all service ids." }]
  }
] as const satisfies ReadonlyArray<CatalogRow>

/** Reserved in this version of the API, and never available. */
export const DOMAIN_ENTRIES = [
  {
    operationId: "registerDomain",
    serviceId: "domain.register",
    method: "POST",
    path: "/api/v1/domains/register",
    price: null,
    authentication: "unavailable",
    capability: "never",
    guide: "/docs#domains",
    purpose: "Domain registration: deprecated and unavailable. Always returns 503 and never requests payment.",
    errors: ["SERVICE_UNAVAILABLE"],
    nextActions: [{ serviceId: "email.mailbox.create", why: "Create a mailbox at the domain of this service instead." }]
  }
] as const satisfies ReadonlyArray<CatalogRow>

/**
 * Token operations for a wallet that signs in. `purpose` is also the statement that the wallet shows: printable ASCII
 * without quotes.
 */
export const AUTH_ENTRIES = [
  {
    operationId: "recoverToken",
    serviceId: "auth.token",
    method: "POST",
    path: "/api/v1/auth/token",
    price: null,
    authentication: "sign-in-with-x",
    capability: "always",
    guide: "/docs#authentication",
    purpose: "Returns the current access token of the wallet that signs in.",
    errors: SIGN_IN_ERRORS,
    extension: true,
    nextActions: [{ serviceId: "auth.revoke", why: "Revoke the token if someone else may know it." }]
  },
  {
    operationId: "revokeTokens",
    serviceId: "auth.revoke",
    method: "POST",
    path: "/api/v1/auth/revoke",
    price: null,
    authentication: "sign-in-with-x",
    capability: "always",
    guide: "/docs#authentication",
    purpose:
      "Revokes every access token of the wallet that signs in, ends its realtime sessions, and returns a new token.",
    errors: SIGN_IN_ERRORS,
    extension: true,
    nextActions: [{ serviceId: "auth.token", why: "Get the new token again if the response was lost." }]
  }
] as const satisfies ReadonlyArray<CatalogRow>

/** Networks and the state of payments. Operations beyond the specification. */
export const PAYMENT_EXTENSIONS = [
  {
    ...PUBLIC,
    operationId: "listPaymentNetworks",
    serviceId: "payment.networks",
    path: "/api/v1/payments/networks",
    extension: true,
    guide: "/docs#payment-networks",
    purpose: "Lists the networks and tokens that payments are accepted in, with the balances of a wallet.",
    errors: ["INVALID_REQUEST", "RATE_LIMITED"],
    nextActions: [{ serviceId: "email.mailbox.create", why: "Pay on a network where the wallet has the money." }]
  },
  {
    operationId: "readPaymentStatus",
    serviceId: "payment.status",
    method: "POST",
    path: "/api/v1/payments/status",
    price: null,
    authentication: "none",
    capability: "always",
    extension: true,
    guide: "/docs#payment-status",
    purpose:
      "Returns the state of the payment in the PAYMENT-SIGNATURE header, and what to do next: pay, retry_same, wait or done. It executes nothing.",
    errors: ["INVALID_REQUEST", "RATE_LIMITED"],
    nextActions: [{ serviceId: "payment.get", why: "Read the payment of an operation by its id." }]
  },
  {
    ...READ,
    operationId: "getPayment",
    serviceId: "payment.get",
    path: "/api/v1/payments/{operationId}",
    extension: true,
    guide: "/docs#payment-status",
    purpose: "Returns the state of the payment of one of your operations, and what to do next.",
    errors: [...BEARER_ERRORS, "RESOURCE_NOT_FOUND", "RESOURCE_NOT_OWNED"],
    nextActions: [{ serviceId: "payment.status", why: "Read a payment of which you have only the signed header." }]
  }
] as const satisfies ReadonlyArray<CatalogRow>

/** The limits of a tenant. Operations beyond the specification. */
export const LIMIT_EXTENSIONS = [
  {
    ...READ,
    operationId: "listLimits",
    serviceId: "limits.list",
    path: "/api/v1/limits",
    extension: true,
    guide: "/docs#limits",
    purpose: "Lists your quotas of mail and calls, and how much of each is used.",
    errors: BEARER_ERRORS,
    nextActions: [
      { serviceId: "email.message.send", why: "Send to as many recipients as are left." },
      { serviceId: "phone.call.outbound.1m", why: "Place a call when one is allowed." }
    ]
  }
] as const satisfies ReadonlyArray<CatalogRow>
