import type { CatalogEntry } from "./CatalogEntry.ts"

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
    purpose: "The compact catalog: what this service is, how to authenticate, where the guides are.",
    inputs: [],
    errors: ["RATE_LIMITED"],
    nextActions: [
      { serviceId: "discovery.services", why: "Read the whole record of each service." },
      { serviceId: "email.mailbox.create", why: "Get a mailbox and, with it, the access token." }
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
    purpose: "The canonical catalog: one record for each service, with price, inputs, errors and next actions.",
    inputs: [],
    errors: ["RATE_LIMITED"],
    nextActions: [{ serviceId: "email.mailbox.create", why: "Begin with a start-here service." }]
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
    purpose: "One service record.",
    inputs: [{ name: "serviceId", in: "path", required: true, description: "Id of a service, as in the catalog." }],
    errors: ["RESOURCE_NOT_FOUND", "RATE_LIMITED"],
    nextActions: [{ serviceId: "discovery.services", why: "See every service id." }]
  }
] as const satisfies ReadonlyArray<CatalogEntry>

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
    purpose: "Registration of domains: deprecated and unavailable. It always answers 503 and never asks for payment.",
    inputs: [],
    errors: ["SERVICE_UNAVAILABLE"],
    nextActions: [{ serviceId: "email.mailbox.create", why: "Get an address at the service's own domain instead." }]
  }
] as const satisfies ReadonlyArray<CatalogEntry>
