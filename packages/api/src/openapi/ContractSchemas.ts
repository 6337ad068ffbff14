import { AgentMessageRecord, AgentReplyRecord } from "@agentos/core"
import { JsonSchema, Schema, SchemaAST, SchemaRepresentation } from "effect"
import { ErrorEnvelope } from "../error/ErrorEnvelope.ts"
import { type Input, inputsOf } from "../operation/Inputs.ts"
import { isBytes, type ApiOperation, takesBody } from "../operation/ApiOperation.ts"
import { OPERATIONS } from "../operation/Operations.ts"
import { RealtimeClientMessage, RealtimeServerMessage } from "../RealtimeMessage.ts"
import {
  child,
  cleanSchema,
  discriminateUnions,
  isObject,
  type JsonObject,
  referenceOf,
  schemaRef,
  toJsonObject
} from "../schema/JsonSchema.ts"
import { successEnvelope } from "../SuccessEnvelope.ts"

export interface ContractSchemas {
  /** The schemas of request bodies. Operations without a body have none. */
  readonly requests: ReadonlyMap<ApiOperation, JsonObject>
  /** The schemas of successful responses, with their envelope. Operations that return bytes have none. */
  readonly responses: ReadonlyMap<ApiOperation, JsonObject>
  /** The schemas with a name, to which the others refer. Those of requests are closed. Those of responses may gain properties. */
  readonly components: JsonObject
}

/** The messages of the WebSocket and of the voice callbacks, to which no path refers. */
const MESSAGES = [RealtimeClientMessage, RealtimeServerMessage, AgentMessageRecord, AgentReplyRecord]

/** Returns the JSON Schemas of the contract. The identifier of a schema is the name of its component. */
export const contractSchemas = (): ContractSchemas => {
  const operations = Object.values<ApiOperation>(OPERATIONS)
  const roots = operations.flatMap((operation) => [
    ...(takesBody(operation) ? [{ operation, part: "request", schema: operation.payload }] : []),
    ...(isBytes(operation.data) ? [] : [{ operation, part: "response", schema: successEnvelope(operation.data) }]),
    { operation, part: "error", schema: ErrorEnvelope }
  ])
  const [first, ...others] = [...roots.map(({ schema }) => schema), ...MESSAGES].map(
    (schema) => Schema.toCodecJson(schema).ast
  )
  if (first === undefined) throw new Error("The contract has no schemas")
  const { definitions, schemas } = JsonSchema.toMultiDocumentOpenApi3_1(
    SchemaRepresentation.toJsonSchemaMultiDocument(SchemaRepresentation.toRepresentations([first, ...others]), {
      onExcessProperty: "error"
    })
  )
  // The messages come first in the document.
  const messages = Object.fromEntries(
    MESSAGES.map(({ ast }) => SchemaAST.resolveIdentifier(ast) ?? "").map((name) => [name, definitions[name]])
  )
  const schemasOf = (part: "request" | "response") =>
    new Map(
      roots.flatMap((root, index) =>
        root.part === part ? [[root.operation, cleanSchema(toJsonObject(schemas[index]), part === "response")]] : []
      )
    )
  const requests = schemasOf("request")
  return {
    requests,
    responses: schemasOf("response"),
    components: componentsOf({ ...messages, ...definitions }, requests)
  }
}

/** Replaces the properties of a request body by its inputs, which have descriptions and examples. */
const bodySchema = (body: JsonObject, inputs: ReadonlyArray<Input>): JsonObject => ({
  ...body,
  properties: Object.fromEntries(inputs.map(({ description, name, schema }) => [name, { description, ...schema }]))
})

/** The messages that clients send on the WebSocket, which accept no other properties. */
const CLIENT_MESSAGES: ReadonlyMap<string, Schema.Struct.Fields> = new Map(
  RealtimeClientMessage.members.map(({ ast, fields }) => [SchemaAST.resolveIdentifier(ast) ?? "", fields])
)

/** Adds the descriptions of fields, which the generator omits where an input is converted. */
const describeFields = (component: JsonObject, fields: Schema.Struct.Fields): JsonObject => ({
  ...component,
  properties: Object.fromEntries(
    Object.entries(child(component, "properties")).map(([name, property]) => {
      const { description = "" } = Schema.resolveAnnotationsKey(fields[name]!) ?? {}
      return [name, isObject(property) ? { ...property, description } : property]
    })
  )
})

/** The component with the fields that events of every type have. */
const EVENT = "Event"

/** Returns the components with the fields that all events share in one component, to which that of each type adds its own. */
const shareEventFields = (components: JsonObject): JsonObject => {
  const { oneOf } = child(components, "EventRecord")
  const names = (Array.isArray(oneOf) ? oneOf : []).map((member) => referenceOf(member) ?? "")
  const fieldsOf = (name: string) => Object.entries(child(child(components, name), "properties"))
  const [first = "", ...others] = names
  const hasField = (event: string, name: string, schema: Schema.Json) =>
    JSON.stringify(child(child(components, event), "properties")[name]) === JSON.stringify(schema)
  const shared = fieldsOf(first).filter(([name, schema]) => others.every((event) => hasField(event, name, schema)))
  const sharedNames = shared.map(([name]) => name)
  const objectOf = (fields: ReadonlyArray<readonly [string, Schema.Json]>): JsonObject => ({
    type: "object",
    properties: Object.fromEntries(fields),
    required: fields.map(([name]) => name)
  })
  const ofType = (name: string): JsonObject => ({
    description: child(components, name)["description"] ?? "",
    allOf: [schemaRef(EVENT), objectOf(fieldsOf(name).filter(([field]) => !sharedNames.includes(field)))]
  })
  return {
    ...components,
    [EVENT]: { ...objectOf(shared), description: "The fields of every event." },
    ...Object.fromEntries(names.map((name) => [name, ofType(name)]))
  }
}

const componentsOf = (
  definitions: Readonly<Record<string, unknown>>,
  requests: ContractSchemas["requests"]
): JsonObject => {
  const bodies = new Map(
    [...requests].map(([operation, schema]) => [
      referenceOf(schema) ?? operation.name,
      inputsOf(operation).filter((input) => input.in === "body")
    ])
  )
  const components = Object.fromEntries(
    Object.entries(definitions).map(([name, schema]): readonly [string, JsonObject] => {
      const inputs = bodies.get(name)
      const message = CLIENT_MESSAGES.get(name)
      const component = cleanSchema(toJsonObject(schema), inputs === undefined && message === undefined)
      if (message !== undefined) return [name, describeFields(component, message)]
      return [name, inputs === undefined ? component : bodySchema(component, inputs)]
    })
  )
  return Object.fromEntries(
    Object.entries(shareEventFields(discriminateUnions(components))).map(([name, component]) => [
      name,
      isObject(component) ? markDeprecated(component) : component
    ])
  )
}

/** Marks the properties whose descriptions begin with "Deprecated:". The schemas of Effect have no such annotation. */
const markDeprecated = (component: JsonObject): JsonObject => ({
  ...component,
  ...(component["properties"] === undefined
    ? {}
    : {
        properties: Object.fromEntries(
          Object.entries(child(component, "properties")).map(([name, property]) => {
            const description = isObject(property) ? property["description"] : undefined
            const isDeprecated = typeof description === "string" && description.startsWith("Deprecated:")
            return [name, isObject(property) && isDeprecated ? { ...property, deprecated: true } : property]
          })
        )
      })
})
