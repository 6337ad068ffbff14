import type { CatalogRow } from "./CatalogRow.ts"

/** The operations for discovering the API, free and without authentication. */
export const DISCOVERY_ENTRIES = [
  {
    operationId: "describeApi",
    serviceId: "discovery.api",
    method: "GET",
    path: "/api/v1",
    price: null,
    authentication: "none",
    capability: "always",
    guide: "/docs#discovery",
    purpose: "Returns the compact catalog: services, prices, authentication rules and links to the guides.",
    errors: ["RATE_LIMITED"],
    nextActions: [
      { serviceId: "discovery.services", why: "Read the full record of each service." },
      { serviceId: "email.mailbox.create", why: "Create a mailbox and get the access token." }
    ]
  },
  {
    operationId: "listServices",
    serviceId: "discovery.services",
    method: "GET",
    path: "/api/v1/services",
    price: null,
    authentication: "none",
    capability: "always",
    guide: "/docs#discovery",
    purpose: "Lists all services, each with its price, inputs, errors and next actions.",
    errors: ["RATE_LIMITED"],
    nextActions: [{ serviceId: "email.mailbox.create", why: "Start with a service that needs no token." }]
  },
  {
    operationId: "getService",
    serviceId: null,
    method: "GET",
    path: "/api/v1/services/{serviceId}",
    price: null,
    authentication: "none",
    capability: "always",
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
