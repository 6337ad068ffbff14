import { openApiDocument, type ApiOperation } from "@agentos/api"
import { Predicate, Schema } from "effect"

/** The document of a server, and its parts as the tests read them: with each reference to a component resolved. */
export const document = openApiDocument({ serverUrl: "https://agentos.example", networks: ["eip155:196"] })

const Properties = Schema.Record(Schema.String, Schema.Json)
const Reference = Schema.Struct({ $ref: Schema.String })
const orReference = <Part extends Schema.Codec<unknown, unknown>>(part: Part) => Schema.Union([Reference, part])

const Example = Schema.Struct({ value: Schema.Json })
const Content = Schema.Struct({
  schema: Properties,
  examples: Schema.optionalKey(Schema.Record(Schema.String, orReference(Example)))
})
const Parameter = Schema.Struct({
  name: Schema.String,
  in: Schema.String,
  required: Schema.Boolean,
  example: Schema.optionalKey(Schema.Json),
  schema: Properties
})
const ResponseShape = Schema.Struct({
  headers: Properties,
  content: Schema.optionalKey(Schema.Record(Schema.String, Content))
})

const Document = Schema.Struct({
  paths: Schema.Record(
    Schema.String,
    Schema.Record(
      Schema.String,
      Schema.Struct({
        operationId: Schema.String,
        summary: Schema.String,
        tags: Schema.Array(Schema.String),
        description: Schema.String,
        security: Schema.Array(Properties),
        parameters: Schema.Array(orReference(Parameter)),
        requestBody: Schema.optionalKey(Schema.Struct({ content: Schema.Record(Schema.String, Content) })),
        responses: Schema.Record(Schema.String, orReference(ResponseShape))
      })
    )
  ),
  webhooks: Schema.Record(
    Schema.String,
    Schema.Struct({
      post: Schema.Struct({
        parameters: Schema.Array(Parameter),
        requestBody: Schema.Struct({ content: Schema.Struct({ "application/json": Content }) }),
        responses: Schema.Record(
          Schema.String,
          Schema.Struct({ content: Schema.optionalKey(Schema.Record(Schema.String, Content)) })
        )
      })
    })
  ),
  components: Schema.Struct({
    parameters: Schema.Record(Schema.String, Parameter),
    responses: Schema.Record(Schema.String, ResponseShape),
    examples: Schema.Record(Schema.String, Example),
    schemas: Schema.Record(Schema.String, Properties)
  })
})

const decoded = Schema.decodeUnknownSync(Document)(document)

export const { components, paths, webhooks } = decoded

const named = <Part>(part: Part | typeof Reference.Type, parts: Readonly<Record<string, Part>>): Part => {
  if (!Predicate.hasProperty(part, "$ref")) return part as Part
  const resolved = parts[String(part.$ref).split("/").at(-1) ?? ""]
  if (resolved === undefined) throw new Error(`${String(part.$ref)} is not in the document`)
  return resolved
}

/** Returns the values of examples by name. */
export const valuesOf = ({ examples }: typeof Content.Type): Readonly<Record<string, Schema.Json>> =>
  Object.fromEntries(
    Object.entries(examples ?? {}).map(([name, example]) => [name, named(example, components.examples).value])
  )

/** Returns an operation as the document describes it. */
export const documentOf = ({ entry, name }: ApiOperation) => {
  const found = paths[entry.path]?.[entry.method.toLowerCase()]
  if (found === undefined) throw new Error(`${name} is not in the document`)
  return {
    ...found,
    parameters: found.parameters.map((parameter) => named(parameter, components.parameters)),
    responses: Object.fromEntries(
      Object.entries(found.responses).map(([status, response]) => [status, named(response, components.responses)])
    )
  }
}

/** Returns a webhook: the examples of its headers, of its body and of the answers to it. */
export const webhookOf = (name: string) => {
  const webhook = webhooks[name]?.post
  if (webhook === undefined) throw new Error(`the webhook ${name} is not in the document`)
  const { content } = webhook.responses["200"] ?? {}
  return {
    headers: Object.fromEntries(webhook.parameters.map((parameter) => [parameter.name, parameter.example])),
    body: valuesOf(webhook.requestBody.content["application/json"]),
    answers: Object.fromEntries(Object.entries(content ?? {}).map(([type, part]) => [type, valuesOf(part)]))
  }
}
