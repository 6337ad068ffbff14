import { Predicate, Schema } from "effect"
import { child, cleanSchema, type JsonObject } from "../schema/JsonSchema.ts"
import type { ApiOperation } from "./ApiOperation.ts"

type AnyCodec = Schema.Codec<unknown, unknown>

/** One input of an operation, as its schema declares it. */
export interface Input {
  readonly name: string
  readonly in: "path" | "query" | "body"
  readonly required: boolean
  /** The JSON type of the value. */
  readonly type: string
  readonly description: string
  /** JSON Schema of the value: type, format, limits, default and examples. */
  readonly schema: JsonObject
}

const JsonDocument = Schema.Struct({
  schema: Schema.Record(Schema.String, Schema.Json),
  definitions: Schema.Record(Schema.String, Schema.Record(Schema.String, Schema.Json))
})

/** Returns the JSON Schema of an object, with the reference to its definition resolved. */
const objectSchema = (codec: AnyCodec): JsonObject => {
  const { definitions, schema } = Schema.decodeUnknownSync(JsonDocument)(Schema.toJsonSchemaDocument(codec))
  return typeof schema["$ref"] === "string" ? (definitions[schema["$ref"].split("/").at(-1) ?? ""] ?? schema) : schema
}

const fieldsOf = (codec: AnyCodec): Readonly<Record<string, AnyCodec>> =>
  Predicate.hasProperty(codec, "fields") ? (codec.fields as Readonly<Record<string, AnyCodec>>) : {}

/** Reads the annotations of a field. Examples are declared decoded, and shown as a client sends them. */
const annotationsOf = (field: AnyCodec) => {
  const { default: initial, description = "", examples = [], format } = Schema.resolveAnnotationsKey(field) ?? {}
  const encode = Schema.encodeUnknownSync(Schema.toCodecJson(field))
  return {
    description,
    schema: {
      ...(format === undefined ? {} : { format }),
      ...(initial === undefined ? {} : { default: encode(initial) }),
      examples: examples.map((example) => encode(example))
    }
  }
}

const inputsIn = (place: Input["in"], codec: AnyCodec): ReadonlyArray<Input> => {
  const { properties = {}, required } = objectSchema(codec)
  return Object.entries(fieldsOf(codec)).map(([name, field]) => {
    const { description: _, ...generated } = cleanSchema(child(properties, name), false)
    const { description, schema } = annotationsOf(field)
    const { type } = generated
    return {
      name,
      in: place,
      required: Array.isArray(required) && required.includes(name),
      type: typeof type === "string" ? type : "",
      description,
      schema: { ...generated, ...schema }
    }
  })
}

const known = new WeakMap<ApiOperation, ReadonlyArray<Input>>()

/** Returns the inputs of an operation: of its path, its query and its body, in the order of their declaration. */
export const inputsOf = (operation: ApiOperation): ReadonlyArray<Input> => {
  const inputs = known.get(operation) ?? [
    ...inputsIn("path", operation.params),
    ...inputsIn("query", operation.query),
    ...inputsIn("body", operation.payload)
  ]
  known.set(operation, inputs)
  return inputs
}

/** Returns whether a request needs a body. A missing one is an empty object otherwise. */
export const requiresBody = (operation: ApiOperation): boolean =>
  inputsOf(operation).some((input) => input.in === "body" && input.required)

const range = (minimum: Schema.Json | undefined, maximum: Schema.Json | undefined, unit: string): string => {
  if (typeof maximum !== "number") return ""
  return typeof minimum === "number" ? `${minimum} to ${maximum}${unit}.` : `At most ${maximum}${unit}.`
}

/** Returns the description of an input with its limits and default in words: "Page size. 1 to 100. Default: 50." */
export const describeInput = ({ description, schema }: Input): string => {
  const { default: initial, enum: values, maximum, maxItems, maxLength, minimum, minItems, minLength } = schema
  return [
    description,
    Array.isArray(values) && values.length > 1 ? `One of ${values.join(", ")}.` : "",
    range(minimum, maximum, ""),
    range(minLength, maxLength, " characters"),
    range(minItems, maxItems, " items"),
    initial === undefined ? "" : `Default: ${JSON.stringify(initial)}.`
  ]
    .filter(Boolean)
    .join(" ")
}
