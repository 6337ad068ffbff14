import { plainText } from "@agentos/core"
import { Schema } from "effect"
import { ApiDescription } from "../discovery/ApiDescription.ts"
import { ServiceRecord } from "../discovery/ServiceRecord.ts"
import { NO_INPUT, operation } from "./Operation.ts"

const SERVICE_ID_LIMIT = 128

export const describeApi = operation("describeApi", { ...NO_INPUT, data: ApiDescription, status: 200 })

export const listServices = operation("listServices", {
  ...NO_INPUT,
  data: Schema.Struct({ items: Schema.Array(ServiceRecord) }),
  status: 200
})

/** An unknown id is answered with 404, so any text is accepted. */
export const getService = operation("getService", {
  ...NO_INPUT,
  params: Schema.Struct({ serviceId: plainText(SERVICE_ID_LIMIT) }),
  data: Schema.Struct({ service: ServiceRecord }),
  status: 200
})

/** Always fails: reserved in this version. */
export const registerDomain = operation("registerDomain", { ...NO_INPUT, data: Schema.Never, status: 200 })
