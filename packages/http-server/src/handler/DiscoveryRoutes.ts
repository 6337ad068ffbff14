import {
  type AcceptedPayment,
  API_CATALOG_PATH,
  API_CATALOG_TYPE,
  apiCatalog,
  apiDescription,
  ASYNCAPI_PATH,
  asyncApiDocument,
  DOCS_PATH,
  documentLinks,
  ICON_PATH,
  LLMS_PATH,
  OPENAPI_PATH,
  openApiDocument,
  type Operation,
  operationOf,
  OPERATIONS,
  ROOT_PATH,
  toServiceRecord,
  X402_PATH,
  x402Document
} from "@agentos/api"
import { OfferReceipts, PaymentRail, ResourceNotFound, SERVICES } from "@agentos/core"
import { Effect } from "effect"
import { createHash } from "node:crypto"
import { agentGuide, DOCS_STYLE, docsPage, ICON } from "../guide/Guide.ts"
import { documentRoute } from "../edge/Route.ts"
import { entityTag, preparedDocument, type PreparedHandler, preparedHandler } from "../guide/PreparedDocument.ts"
import { preparedRoute } from "../operation/FreeRoute.ts"
import { preparedResponse } from "../operation/SuccessResponse.ts"
import { ServerSettings } from "../ServerSettings.ts"

/**
 * Prepares data that are the same for every client while the server runs, on the first request. The envelope differs: it
 * contains the requestId.
 */
const prepared = (operation: Operation, data: () => unknown, more: Readonly<Record<string, string>> = {}) =>
  preparedHandler(() => {
    const json = JSON.stringify(data())
    const headers = { etag: `W/${entityTag(json)}`, "cache-control": "no-cache", ...more }
    return { headers, answer: preparedResponse(operation, json, headers) }
  })

/** The page runs nothing and loads only its icon. The policy allows its one style by hash. */
const docsPolicy = `default-src 'none'; style-src 'sha256-${createHash("sha256").update(DOCS_STYLE).digest("base64")}'; img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`

/** Returns where the DID document is found below the public URL (did:web, section "Read (Resolve)"). */
const didPathOf = (publicUrl: string): string =>
  new URL(publicUrl).pathname === "/" ? "/.well-known/did.json" : "/did.json"

/** Public routes: the catalog, the contract and the guides. */
export const routes = Effect.gen(function* () {
  const { capabilities, environment, publicUrl } = yield* ServerSettings
  const record = (entry: (typeof SERVICES)[number]) => toServiceRecord(entry, operationOf(entry), capabilities)
  const rail = yield* PaymentRail
  const accepts = () => acceptedPayments(rail)
  const described = () => ({ serverUrl: publicUrl, networks: accepts().map(({ network }) => network) })
  const links = { link: documentLinks(publicUrl) }
  const document = (text: () => string, contentType: string, headers: Readonly<Record<string, string>> = {}) =>
    preparedDocument(text, contentType, { ...links, ...headers })
  const description = prepared(
    OPERATIONS.describeApi,
    () => apiDescription(environment, capabilities, accepts()),
    links
  )
  const catalog = prepared(OPERATIONS.listServices, () => ({ items: SERVICES.map(record) }))
  const services = new Map<string, PreparedHandler>()
  for (const entry of SERVICES) {
    services.set(
      entry.serviceId,
      prepared(OPERATIONS.getService, () => ({ service: record(entry) }))
    )
  }
  const { didDocument } = yield* OfferReceipts
  const guide = { capabilities, environment, publicUrl }
  const docs = document(() => docsPage(guide), "text/html; charset=utf-8", {
    "content-security-policy": docsPolicy
  })

  return [
    preparedRoute(OPERATIONS.describeApi, () => description),
    preparedRoute(OPERATIONS.listServices, () => catalog),
    preparedRoute(
      OPERATIONS.getService,
      ({ serviceId = "" }) => services.get(serviceId) ?? new ResourceNotFound({ kind: "service", id: serviceId })
    ),
    documentRoute(ROOT_PATH, docs),
    documentRoute(
      OPENAPI_PATH,
      document(() => JSON.stringify(openApiDocument(described())), "application/json")
    ),
    documentRoute(
      ASYNCAPI_PATH,
      document(() => JSON.stringify(asyncApiDocument(described())), "application/json")
    ),
    documentRoute(
      X402_PATH,
      document(() => toJson(x402Document(publicUrl, capabilities, accepts())), "application/json")
    ),
    documentRoute(
      API_CATALOG_PATH,
      document(() => toJson(apiCatalog(publicUrl)), API_CATALOG_TYPE)
    ),
    documentRoute(
      didPathOf(publicUrl),
      document(() => toJson(didDocument), "application/did+json")
    ),
    documentRoute(
      ICON_PATH,
      preparedDocument(() => ICON, "image/svg+xml")
    ),
    documentRoute(
      LLMS_PATH,
      document(() => agentGuide(guide), "text/plain; charset=utf-8")
    ),
    documentRoute(DOCS_PATH, docs)
  ] as const
})

const toJson = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`

/** Returns the payments that every challenge offers, without the fields that differ between challenges. */
const acceptedPayments = ({ terms }: PaymentRail["Service"]): ReadonlyArray<AcceptedPayment> =>
  terms(1n).map(({ asset, extra, maxTimeoutSeconds, network, payTo }) => ({
    network,
    asset,
    payTo,
    maxTimeoutSeconds,
    extra
  }))
