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
import { entityTag, preparedDocument, unlessCurrent } from "../guide/PreparedDocument.ts"
import { publicRoute } from "../operation/FreeRoute.ts"
import { preparedResponse } from "../operation/SuccessResponse.ts"
import { ServerSettings } from "../ServerSettings.ts"

/**
 * Prepares data that are the same for every client while the server runs. The envelope differs: it contains the
 * requestId.
 */
const prepared = (operation: Operation, data: unknown) => {
  const json = JSON.stringify(data)
  const headers = { etag: `W/${entityTag(json)}`, "cache-control": "no-cache" }
  return unlessCurrent(headers, preparedResponse(operation, json, headers))
}

/** The page runs and loads nothing. The policy allows its one style by hash. */
const docsPolicy = `default-src 'none'; style-src 'sha256-${createHash("sha256").update(DOCS_STYLE).digest("base64")}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`

/** Returns where the DID document is found below the public URL (did:web, section "Read (Resolve)"). */
const didPathOf = (publicUrl: string): string =>
  new URL(publicUrl).pathname === "/" ? "/.well-known/did.json" : "/did.json"

/** Public routes: the catalog, the contract and the guides, prepared once. */
export const routes = Effect.gen(function* () {
  const { capabilities, environment, publicUrl } = yield* ServerSettings
  const records = SERVICES.map((entry) => toServiceRecord(entry, operationOf(entry), capabilities))
  const description = prepared(OPERATIONS.describeApi, apiDescription(environment, capabilities))
  const catalog = prepared(OPERATIONS.listServices, { items: records })
  const services = new Map<string, typeof catalog>(
    records.map((service) => [service.serviceId, prepared(OPERATIONS.getService, { service })])
  )
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
      preparedDocument(`${JSON.stringify(openApiDocument(publicUrl), null, 2)}\n`, "application/json")
    ),
    documentRoute(ICON_PATH, preparedDocument(ICON, "image/svg+xml")),
    documentRoute(
      didPathOf(publicUrl),
      preparedDocument(`${JSON.stringify(didDocument, null, 2)}\n`, "application/did+json")
    ),
    documentRoute(LLMS_PATH, preparedDocument(agentGuide(guide), "text/plain; charset=utf-8")),
    documentRoute(
      DOCS_PATH,
      preparedDocument(docsPage(guide), "text/html; charset=utf-8", { "content-security-policy": docsPolicy })
    )
  ] as const
})
