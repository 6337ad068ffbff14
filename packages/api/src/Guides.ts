import { serviceEntry } from "@agentos/core"
import { Schema } from "effect"
import { LLMS_PATH, OPENAPI_PATH } from "./PublicPath.ts"

/** Links to the documentation, which every error contains. */
export const Guides = Schema.Struct({
  llms: Schema.String.annotateKey({ description: "Path of the guide for agents." }),
  serviceCatalog: Schema.String.annotateKey({ description: "Path of the list of all services." }),
  openapi: Schema.String.annotateKey({ description: "Path of the OpenAPI document." })
}).annotate({ identifier: "Guides" })

export const GUIDES: typeof Guides.Type = {
  llms: LLMS_PATH,
  serviceCatalog: serviceEntry("discovery.services").path,
  openapi: OPENAPI_PATH
}
