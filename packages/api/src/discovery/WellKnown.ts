import {
  type Capabilities,
  isAvailable,
  operationEntry,
  serviceEntry,
  type ServiceEntry,
  SERVICES,
  Usdt
} from "@agentos/core"
import type { AcceptedPayment } from "../operation/ApiDescription.ts"
import {
  API_CATALOG_PATH,
  ASYNCAPI_PATH,
  DOCS_PATH,
  LLMS_PATH,
  OPENAPI_PATH,
  READY_PATH,
  X402_PATH
} from "../PublicPath.ts"

/** The start-here service of each half of the API, with the resource that it provides. */
const STARTS = [
  ["email", "createMailbox", "a mailbox"],
  ["phone", "purchaseUsNumber", "a phone number"]
] as const

const callOf = (operation: (typeof STARTS)[number][1] | "replayEvents"): string => {
  const { method, path } = operationEntry(operation)
  return `${method} ${path}`
}

const startSentence = (capabilities: Capabilities): string => {
  const starts = STARTS.filter(([half]) => capabilities[half])
  return starts.length === 0
    ? "This server offers no paid service at the moment."
    : `Start with a service that needs no account and no token: ${starts.map(([, operation, what]) => `${callOf(operation)} for ${what}`).join(", ")}.`
}

/** Returns how to use a server with these capabilities in a few sentences, for agents that read a directory entry first. */
export const guidance = (capabilities: Capabilities): string =>
  [
    startSentence(capabilities),
    "Send the request without payment. The response is 402 with a challenge in the PAYMENT-REQUIRED header. Sign it with an x402 version 2 client (scheme exact), and repeat the identical request with PAYMENT-SIGNATURE and a unique Idempotency-Key.",
    "The response contains your access token, which every other operation takes as `Authorization: Bearer`. Pay for them from the same wallet. Without the token they return 428.",
    "After a lost response, repeat the same request with the same key and payment: you are charged once. A payment for a service that can't be delivered is refunded.",
    `Inbound mail and calls are durable events, over WebSocket or ${callOf("replayEvents")}. Guide: ${LLMS_PATH}.`
  ].join("\n")

const paidServices = (capabilities: Capabilities): ReadonlyArray<ServiceEntry & { readonly price: Usdt.Usdt }> =>
  SERVICES.flatMap((entry) =>
    entry.price !== null && isAvailable(entry, capabilities) ? [{ ...entry, price: entry.price }] : []
  )

/**
 * Returns `/.well-known/x402` of a server at `publicUrl`: its paid services and how they are paid. No specification
 * defines the document; `version` and `resources` are what crawlers read.
 */
export const x402Document = (
  publicUrl: string,
  capabilities: Capabilities,
  accepts: ReadonlyArray<AcceptedPayment>
) => ({
  version: 1,
  x402Version: 2,
  resources: paidServices(capabilities).map(({ path }) => `${publicUrl}${path}`),
  services: paidServices(capabilities).map(({ authentication, method, path, price, purpose, serviceId }) => ({
    serviceId,
    method,
    url: `${publicUrl}${path}`,
    price: Usdt.toPrice(price),
    authentication,
    description: purpose
  })),
  accepts,
  openapi: `${publicUrl}${OPENAPI_PATH}`,
  asyncapi: `${publicUrl}${ASYNCAPI_PATH}`,
  instructions: guidance(capabilities)
})

/** Returns `/.well-known/api-catalog` of a server at `publicUrl`: a link set (RFC 9727, RFC 9264). */
export const apiCatalog = (publicUrl: string) => ({
  linkset: [
    {
      anchor: `${publicUrl}${operationEntry("describeApi").path}`,
      "service-desc": [
        { href: `${publicUrl}${OPENAPI_PATH}`, type: "application/json" },
        { href: `${publicUrl}${ASYNCAPI_PATH}`, type: "application/json" }
      ],
      "service-doc": [
        { href: `${publicUrl}${DOCS_PATH}`, type: "text/html" },
        { href: `${publicUrl}${LLMS_PATH}`, type: "text/plain" }
      ],
      "service-meta": [
        { href: `${publicUrl}${serviceEntry("discovery.services").path}`, type: "application/json" },
        { href: `${publicUrl}${X402_PATH}`, type: "application/json" }
      ],
      status: [{ href: `${publicUrl}${READY_PATH}`, type: "application/json" }]
    }
  ]
})

/** The media type of the API catalog (RFC 9727, section 4.2). */
export const API_CATALOG_TYPE = 'application/linkset+json; profile="https://www.rfc-editor.org/info/rfc9727"'

/** Returns the Link header (RFC 8288) of the root, the API description and the documents. */
export const documentLinks = (publicUrl: string): string =>
  [
    `<${publicUrl}${API_CATALOG_PATH}>; rel="api-catalog"`,
    `<${publicUrl}${OPENAPI_PATH}>; rel="service-desc"; type="application/json"`,
    `<${publicUrl}${ASYNCAPI_PATH}>; rel="service-desc"; type="application/json"`,
    `<${publicUrl}${DOCS_PATH}>; rel="service-doc"; type="text/html"`,
    `<${publicUrl}${LLMS_PATH}>; rel="service-doc"; type="text/plain"`
  ].join(", ")
