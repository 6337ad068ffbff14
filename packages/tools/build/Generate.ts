import { openApiDocument } from "@agentos/api"

type Json = { readonly [key: string]: unknown }

interface Parameter {
  readonly name: string
  readonly in: string
  readonly description: string
  readonly schema: Json
}
interface Reference {
  readonly $ref: string
}

/** The parts of the OpenAPI document that the tools need. */
interface OperationDocument {
  readonly operationId: string
  readonly parameters: ReadonlyArray<Parameter | Reference>
  readonly requestBody?: { readonly content: { readonly "application/json": { readonly schema: Json } } }
  readonly "x-price"?: { readonly amount: string }
}
interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, OperationDocument>>>>
  readonly components: {
    readonly schemas: Readonly<Record<string, Json>>
    readonly parameters?: Readonly<Record<string, Parameter>>
  }
}

/** The operations whose inputs become inputs of tools. */
const OPERATIONS = [
  "createMailbox",
  "sendMessage",
  "queryMessages",
  "queryThreads",
  "updateMessages",
  "cancelMessage",
  "purchaseUsNumber",
  "callOneMinute",
  "getCall"
]

/** Moves the members of `allOf` beside it, because some hosts do not support the keyword. */
const flat = ({ allOf, ...schema }: Json): Json =>
  Array.isArray(allOf) ? { ...Object.assign({}, ...(allOf as ReadonlyArray<Json>)), ...schema } : schema

const nameOf = (reference: string): string => reference.split("/").at(-1) ?? ""

const propertiesOf = (operation: OperationDocument, { components }: Document): Json => {
  const reference = operation.requestBody?.content["application/json"].schema["$ref"]
  const body = typeof reference === "string" ? components.schemas[nameOf(reference)] : undefined
  return {
    ...Object.fromEntries(
      operation.parameters
        .map((parameter) => ("$ref" in parameter ? components.parameters![nameOf(parameter.$ref)]! : parameter))
        .filter((parameter) => parameter.in !== "header")
        .map(({ description, name, schema }) => [name, { ...flat(schema), description }])
    ),
    ...Object.fromEntries(
      Object.entries((body?.["properties"] ?? {}) as Readonly<Record<string, Json>>).map(([name, schema]) => [
        name,
        flat(schema)
      ])
    )
  }
}

/** Returns the text of the module with the schemas and prices of the contract. */
export const generate = (): string => {
  const document = openApiDocument({ serverUrl: "https://agentos.example", networks: [] }) as unknown as Document
  const operations = Object.values(document.paths).flatMap((methods) => Object.values(methods))
  const inputs = Object.fromEntries(
    operations
      .filter(({ operationId }) => OPERATIONS.includes(operationId))
      .map((operation) => [operation.operationId, propertiesOf(operation, document)])
  )
  const prices = Object.fromEntries(
    operations.flatMap(({ operationId, "x-price": price }) =>
      price === undefined ? [] : [[operationId, price.amount]]
    )
  )
  return `// Generated from the OpenAPI document by \`npx -y pnpm@12 generate\`.

/** The JSON Schema of each input, by operation. */
export const INPUTS = ${JSON.stringify(inputs, undefined, 2)} as const

/** Prices in USDT, by operation. */
export const PRICES = ${JSON.stringify(prices, undefined, 2)} as const
`
}
