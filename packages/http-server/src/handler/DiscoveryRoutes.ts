import {
  type AcceptedPayment,
  API_CATALOG_PATH,
  API_CATALOG_TYPE,
  apiCatalog,
  apiDescription,
  ASYNCAPI_PATH,
  asyncApiDocument,
  documentLinks,
  ICON,
  ICON_PATH,
  OPENAPI_PATH,
  openApiDocument,
  type ApiOperation,
  operationOf,
  OPERATIONS,
  toServiceRecord,
  X402_PATH,
  x402Document
} from "@agentos/api"
import { type Capabilities, OfferReceipts, PaymentRail, ResourceNotFound, Sales, SERVICES } from "@agentos/core"
import { Effect } from "effect"
import { documentRoute, type Handler } from "../edge/Route.ts"
import { entityTag, preparedDocument, type PreparedHandler, preparedHandler } from "../edge/PreparedDocument.ts"
import { preparedRoute } from "../operation/FreeRoute.ts"
import { preparedResponse } from "../operation/Responses.ts"
import { ServerSettings } from "../ServerSettings.ts"
import { agentSkillRoutes } from "../site/AgentSkill.ts"
import * as DownloadRoutes from "../site/DownloadRoutes.ts"
import * as SiteRoutes from "../site/SiteRoutes.ts"

/**
 * Prepares data that are the same for every client while the server runs, on the first request. The envelope differs: it
 * contains the requestId.
 */
const prepared = (operation: ApiOperation, data: () => unknown, more: Readonly<Record<string, string>> = {}) =>
  preparedHandler(() => {
    const json = JSON.stringify(data())
    const headers = { etag: `W/${entityTag(json)}`, "cache-control": "no-cache", ...more }
    return { headers, answer: preparedResponse(operation, json, headers) }
  })

/** Prepares data about the services on sale, and again when the operator stops or starts a sale. */
const preparedOffer = (
  { stopped }: Sales["Service"],
  operation: ApiOperation,
  data: (stopped: NonNullable<Capabilities["stopped"]>) => unknown,
  more: Readonly<Record<string, string>> = {}
): Handler<never> => {
  let known: { readonly ids: string; readonly handler: PreparedHandler } | undefined
  return (request, record) =>
    Effect.map(stopped, (stops) => {
      const ids = [...stops.keys()].join(" ")
      if (known?.ids !== ids) known = { ids, handler: prepared(operation, () => data(stops), more) }
      return known.handler(request, record)
    })
}

/** Returns where the DID document is found below the public URL (did:web, section "Read (Resolve)"). */
const didPathOf = (publicUrl: string): string =>
  new URL(publicUrl).pathname === "/" ? "/.well-known/did.json" : "/did.json"

/** Public routes: the catalog, the contract and the documentation. */
export const routes = Effect.gen(function* () {
  const { capabilities, environment, publicUrl } = yield* ServerSettings
  const sales = yield* Sales
  const record = (entry: (typeof SERVICES)[number], stopped: Capabilities["stopped"]) =>
    toServiceRecord(entry, operationOf(entry), { ...capabilities, stopped })
  const rail = yield* PaymentRail
  const accepts = () => acceptedPayments(rail)
  // A network can have several tokens.
  const networks = () => [...new Set(accepts().map(({ network }) => network))]
  const described = () => ({ serverUrl: publicUrl, networks: networks(), capabilities })
  const links = { link: documentLinks(publicUrl) }
  const document = (text: () => string, contentType: string, headers: Readonly<Record<string, string>> = {}) =>
    preparedDocument(text, contentType, { ...links, ...headers })
  const description = preparedOffer(
    sales,
    OPERATIONS.describeApi,
    (stopped) => apiDescription(environment, { ...capabilities, stopped }, accepts()),
    links
  )
  const catalog = preparedOffer(sales, OPERATIONS.listServices, (stopped) => ({
    items: SERVICES.map((entry) => record(entry, stopped))
  }))
  const services = new Map<string, Handler<never>>()
  for (const entry of SERVICES) {
    services.set(
      entry.serviceId,
      preparedOffer(sales, OPERATIONS.getService, (stopped) => ({ service: record(entry, stopped) }))
    )
  }
  const { didDocument } = yield* OfferReceipts

  return [
    preparedRoute(OPERATIONS.describeApi, () => description),
    preparedRoute(OPERATIONS.listServices, () => catalog),
    preparedRoute(
      OPERATIONS.getService,
      ({ serviceId = "" }) => services.get(serviceId) ?? new ResourceNotFound({ kind: "service", id: serviceId })
    ),
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
    ...agentSkillRoutes({ environment, publicUrl, capabilities }, document),
    ...(yield* DownloadRoutes.routes),
    ...(yield* SiteRoutes.routes(description))
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
