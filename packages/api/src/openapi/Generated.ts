import { type Schema, SchemaAST } from "effect"
import { OpenApi } from "effect/http-api"
import { AgentOsApi } from "../AgentOsApi.ts"
import { type Input, inputsOf } from "../operation/Inputs.ts"
import { type Operation, takesBody } from "../operation/Operation.ts"
import { operations } from "../operation/Operations.ts"
import { RealtimeClientMessage } from "../RealtimeMessage.ts"
import { cleanSchema, discriminateUnions, isObject, type JsonObject, referenceOf, toJsonObject } from "./JsonSchema.ts"

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

/** Returns the components of all schemas. Those of requests are closed. Those of responses may gain properties. */
export const schemas = (generated: JsonObject): JsonObject => {
  const inputsByName = bodies(generated)
  return discriminateUnions(
    Object.fromEntries(
      Object.entries(child(generated["components"], "schemas")).map(([name, schema]) => {
        const inputs = inputsByName.get(name)
        const isSent = inputs !== undefined || CLIENT_MESSAGES.has(name)
        const cleaned = cleanSchema(schema, !isSent)
        return [name, inputs !== undefined && isObject(cleaned) ? bodySchema(cleaned, inputs) : cleaned]
      })
    )
  )
}
