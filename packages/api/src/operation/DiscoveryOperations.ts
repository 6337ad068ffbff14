import { plainText } from "@agentos/core"
import { Schema } from "effect"
import { HttpApiGroup, OpenApi } from "effect/http-api"
import { ApiDescription } from "../discovery/ApiDescription.ts"
import { ServiceRecord } from "../discovery/ServiceRecord.ts"
import { getEndpoint, postEndpoint } from "./Endpoint.ts"
import { NO_INPUT, operation } from "./Operation.ts"

const SERVICE_ID_LIMIT = 128

export const DISCOVERY_OPERATIONS = {
  describeApi: operation("describeApi", { ...NO_INPUT, data: ApiDescription, status: 200 }),

  listServices: operation("listServices", {
    ...NO_INPUT,
    data: Schema.Struct({ items: Schema.Array(ServiceRecord) }),
    status: 200
  }),

  /** An unknown id is answered with 404, so any text is accepted. */
  getService: operation("getService", {
    ...NO_INPUT,
    params: Schema.Struct({
      serviceId: plainText(SERVICE_ID_LIMIT).annotateKey({
        description: "Id of a service in the catalog.",
        examples: ["email.mailbox.create"]
      })
    }),
    data: Schema.Struct({ service: ServiceRecord }),
    status: 200
  })
}

export const discoveryGroup = HttpApiGroup.make("discovery", { topLevel: true })
  .add(
    getEndpoint(DISCOVERY_OPERATIONS.describeApi),
    getEndpoint(DISCOVERY_OPERATIONS.listServices),
    getEndpoint(DISCOVERY_OPERATIONS.getService)
  )
  .annotate(OpenApi.Description, "Services, prices and how to start.")

/** Reserved in this version. Always fails. */
export const DOMAIN_OPERATIONS = {
  registerDomain: operation("registerDomain", { ...NO_INPUT, data: Schema.Never, status: 200 })
}

export const domainGroup = HttpApiGroup.make("domains", { topLevel: true })
  .add(postEndpoint(DOMAIN_OPERATIONS.registerDomain))
  .annotate(OpenApi.Description, "Reserved in this version and never available.")
