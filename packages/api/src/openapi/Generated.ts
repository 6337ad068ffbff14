import { type Schema, SchemaAST } from "effect"
import { OpenApi } from "effect/http-api"
import { AgentOsApi } from "../AgentOsApi.ts"
import { type Input, inputsOf } from "../operation/Inputs.ts"
import { type Operation, takesBody } from "../operation/Operation.ts"
import { operations } from "../operation/Operations.ts"
import { RealtimeClientMessage } from "../RealtimeMessage.ts"
import {
  cleanSchema,
  discriminateUnions,
  isObject,
  type JsonObject,
  referenceOf,
  schemaRef,
  toJsonObject
} from "./JsonSchema.ts"

/** Returns the document that Effect generates from the contract, which the served documents are made of. */
export const generate = (): JsonObject => toJsonObject(OpenApi.fromApi(AgentOsApi))

/** Returns the object under a key; an empty one if there is none. */
export const child = (json: Schema.Json | undefined, key: string): JsonObject => {
  const value = isObject(json) ? json[key] : undefined
  return isObject(value) ? value : {}
}

/** Returns an operation of the generated document. */
export const generatedOperation = (generated: JsonObject, { entry }: Operation): JsonObject =>
  child(child(generated["paths"], entry.path), entry.method.toLowerCase())

/** Returns the inputs of each body by the name of its schema. */
const bodies = (generated: JsonObject): ReadonlyMap<string, ReadonlyArray<Input>> =>
  new Map(
    operations.filter(takesBody).map((operation) => {
      const body = child(generatedOperation(generated, operation), "requestBody")
      const name = referenceOf(child(child(body, "content"), "application/json")["schema"]) ?? operation.name
      return [name, inputsOf(operation).filter((input) => input.in === "body")]
    })
  )

/** Replaces the properties of a request body by its inputs, which have descriptions and examples. */
const bodySchema = (body: JsonObject, inputs: ReadonlyArray<Input>): JsonObject => ({
  ...body,
  properties: Object.fromEntries(inputs.map(({ description, name, schema }) => [name, { description, ...schema }]))
})

/** The messages that clients send on the WebSocket, which accept no other properties. */
const CLIENT_MESSAGES: ReadonlySet<string> = new Set(
  RealtimeClientMessage.members.map((member) => SchemaAST.resolveIdentifier(member.ast) ?? "")
)

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

/** Returns the components of all schemas. Those of requests are closed. Those of responses may gain properties. */
export const schemas = (generated: JsonObject): JsonObject => {
  const inputsByName = bodies(generated)
  const components = Object.fromEntries(
    Object.entries(child(generated["components"], "schemas")).map(([name, schema]) => {
      const inputs = inputsByName.get(name)
      const isSent = inputs !== undefined || CLIENT_MESSAGES.has(name)
      const cleaned = cleanSchema(schema, !isSent)
      return [name, inputs !== undefined && isObject(cleaned) ? bodySchema(cleaned, inputs) : cleaned]
    })
  )
  return shareEventFields(discriminateUnions(components))
}
