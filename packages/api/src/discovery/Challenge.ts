import {
  type Capabilities,
  type CatalogEntry,
  type ChallengeResource,
  type Extensions,
  isMarketplaceListing,
  isAvailable,
  isStartHere,
  SERVICES,
  Usdt
} from "@agentos/core"
import { Schema } from "effect"
import { API_NAME } from "../ApiIdentity.ts"
import { inputsOf } from "../operation/Inputs.ts"
import type { ApiOperation } from "../operation/ApiOperation.ts"
import { ICON_PATH } from "../PublicPath.ts"
import { compactSchema, isObject, type JsonObject } from "../schema/JsonSchema.ts"

/** The parts of a challenge that follow from the contract. They are the same for every request to an operation. */

const TAGS = {
  email: ["email", "mailbox", "agents"],
  phone: ["phone", "calls", "agents"],
  always: [],
  never: []
} satisfies Record<CatalogEntry["capability"], ReadonlyArray<string>>

/** Returns the description of a paid operation for its challenge, on a server at `publicUrl`. */
export const challengeResource = ({ entry }: ApiOperation, publicUrl: string): ChallengeResource => ({
  url: `${publicUrl}${entry.path}`,
  description: entry.purpose,
  mimeType: "application/json",
  serviceName: API_NAME,
  tags: TAGS[entry.capability],
  iconUrl: `${publicUrl}${ICON_PATH}`
})

const DRAFT = "https://json-schema.org/draft/2020-12/schema"

const toJson = Schema.decodeUnknownSync(Schema.Json)

/** The levels of an example below its data: the fields of a record, without their parts. */
const EXAMPLE_DEPTH = 1

/** Returns the fields of an example that are not null or false, without those that are nested deeper. */
const shortExample = (value: Schema.Json, depth = EXAMPLE_DEPTH): Schema.Json =>
  isObject(value)
    ? Object.fromEntries(
        Object.entries(value).flatMap(([name, field]) =>
          field === null || field === false || (depth === 0 && typeof field === "object")
            ? []
            : [[name, shortExample(field, depth - 1)]]
        )
      )
    : value

const bodySchema = (operation: ApiOperation): JsonObject => {
  const inputs = inputsOf(operation)
  return {
    type: "object",
    properties: Object.fromEntries(inputs.map(({ name, schema }) => [name, compactSchema(schema)])),
    required: inputs.flatMap(({ name, required }) => (required ? [name] : [])),
    additionalProperties: false
  }
}

/**
 * Returns x402's extension `bazaar` (specs/extensions/bazaar.md), by which directories index the operation and agents
 * call it. Every paid operation is a POST with a JSON body and without parameters. To keep the header short, the example of
 * the response leaves out requestId, guide, fields that are null or false and the parts of a record.
 */
const bazaar = (operation: ApiOperation): JsonObject => {
  const { entry, example } = operation
  if (example === undefined) throw new Error(`${operation.name} has no example`)
  return {
    info: {
      input: { type: "http", method: entry.method, bodyType: "json", body: toJson(example.payload) },
      output: { type: "json", example: { data: shortExample(toJson(example.data)) } }
    },
    schema: {
      $schema: DRAFT,
      type: "object",
      properties: {
        input: {
          type: "object",
          properties: {
            type: { const: "http" },
            method: { enum: [entry.method] },
            bodyType: { enum: ["json"] },
            body: bodySchema(operation)
          },
          required: ["type", "method", "bodyType", "body"]
        },
        output: { type: "object", properties: { example: { type: "object" } } }
      },
      required: ["input"]
    }
  }
}

/** The beginning of the paths of all operations. */
const BASE_PATH = "/api/v1"

/**
 * Returns the extension that lists the paid services which need an access token, with their prices. Without a token they
 * answer 428, so that directories never see their challenges.
 */
const paidServices = (capabilities: Capabilities): JsonObject => {
  const sold = SERVICES.filter(
    (entry) => !isStartHere(entry) && isMarketplaceListing(entry, isAvailable(entry, capabilities))
  )
  const prices = sold.map(({ path, price }) => [path.replace(BASE_PATH, ""), Usdt.toDecimal(price ?? 0n)])
  return {
    info: {
      authentication: "bearer",
      method: "POST",
      basePath: BASE_PATH,
      asset: Usdt.ASSET,
      prices: Object.fromEntries(prices)
    },
    schema: { type: "object" }
  }
}

/** Returns the extensions in the challenge of a paid operation, on a server with these capabilities. */
export const challengeExtensions = (operation: ApiOperation, capabilities: Capabilities): Extensions => ({
  bazaar: bazaar(operation),
  ...(isStartHere(operation.entry) ? { "paid-services": paidServices(capabilities) } : {})
})
