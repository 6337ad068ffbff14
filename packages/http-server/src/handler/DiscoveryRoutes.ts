import {
  apiDescription,
  DOCS_PATH,
  ICON_PATH,
  LLMS_PATH,
  OPENAPI_PATH,
  openApiDocument,
  type Operation,
  operationOf,
  OPERATIONS,
  toServiceRecord
} from "@agentos/api"
import { OfferReceipts, ResourceNotFound, SERVICES } from "@agentos/core"
import { Effect } from "effect"
import { createHash } from "node:crypto"
import { agentGuide, DOCS_STYLE, docsPage, ICON } from "../guide/Guide.ts"
import { documentRoute } from "../edge/Routing.ts"
import { entityTag, onFirstRequest, preparedDocument, unlessCurrent } from "../guide/PreparedDocument.ts"
import { publicRoute } from "../operation/FreeRoute.ts"
import { preparedResponse } from "../operation/SuccessResponse.ts"
import { ServerSettings } from "../ServerSettings.ts"

/**
 * Prepares data that are the same for every client while the server runs, on the first request. The envelope differs: it
 * contains the requestId.
 */
const prepared = (operation: Operation, data: () => unknown) =>
  onFirstRequest(() => {
    const json = JSON.stringify(data())
    const headers = { etag: `W/${entityTag(json)}`, "cache-control": "no-cache" }
    return unlessCurrent(headers, preparedResponse(operation, json, headers))
  })

/** The page runs and loads nothing. The policy allows its one style by hash. */
const docsPolicy = `default-src 'none'; style-src 'sha256-${createHash("sha256").update(DOCS_STYLE).digest("base64")}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`

/** Returns where the DID document is found below the public URL (did:web, section "Read (Resolve)"). */
const didPathOf = (publicUrl: string): string =>
  new URL(publicUrl).pathname === "/" ? "/.well-known/did.json" : "/did.json"

/** Public routes: the catalog, the contract and the guides. */
export const routes = Effect.gen(function* () {
  const { capabilities, environment, publicUrl } = yield* ServerSettings
  const record = (entry: (typeof SERVICES)[number]) => toServiceRecord(entry, operationOf(entry), capabilities)
  const description = yield* prepared(OPERATIONS.describeApi, () => apiDescription(environment, capabilities))
  const catalog = yield* prepared(OPERATIONS.listServices, () => ({ items: SERVICES.map(record) }))
  const services = new Map<string, typeof catalog>()
  for (const entry of SERVICES) {
    services.set(entry.serviceId, yield* prepared(OPERATIONS.getService, () => ({ service: record(entry) })))
  }
  const { didDocument } = yield* OfferReceipts
  const guide = { capabilities, environment, publicUrl }

  return [
    publicRoute(OPERATIONS.describeApi, () => description),
    publicRoute(OPERATIONS.listServices, () => catalog),
    publicRoute(
      OPERATIONS.getService,
      ({ params: { serviceId } }) =>
        services.get(serviceId) ?? Effect.fail(new ResourceNotFound({ kind: "service", id: serviceId }))
    ),
    documentRoute(
      OPENAPI_PATH,
      yield* preparedDocument(() => `${JSON.stringify(openApiDocument(publicUrl), null, 2)}\n`, "application/json")
    ),
    documentRoute(ICON_PATH, yield* preparedDocument(() => ICON, "image/svg+xml")),
    documentRoute(
      didPathOf(publicUrl),
      yield* preparedDocument(() => `${JSON.stringify(didDocument, null, 2)}\n`, "application/did+json")
    ),
    documentRoute(LLMS_PATH, yield* preparedDocument(() => agentGuide(guide), "text/plain; charset=utf-8")),
    documentRoute(
      DOCS_PATH,
      yield* preparedDocument(() => docsPage(guide), "text/html; charset=utf-8", {
        "content-security-policy": docsPolicy
      })
    )
  ] as const
})
