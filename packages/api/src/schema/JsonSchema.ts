import { Schema } from "effect"

export type JsonObject = { readonly [key: string]: Schema.Json }

export const isObject = (json: Schema.Json | undefined): json is JsonObject =>
  typeof json === "object" && json !== null && !Array.isArray(json)

/** Returns the object under a key; an empty one if the key has no object. */
export const child = (json: Schema.Json | undefined, key: string): JsonObject => {
  const value = isObject(json) ? json[key] : undefined
  return isObject(value) ? value : {}
}

export const toJsonObject: (value: unknown) => JsonObject = Schema.decodeUnknownSync(
  Schema.Record(Schema.String, Schema.Json)
)

/** Returns whether a bound only states that a number is a safe integer. */
const isSafeIntegerBound = (key: string, value: Schema.Json): boolean =>
  (key === "minimum" && value === Number.MIN_SAFE_INTEGER) || (key === "maximum" && value === Number.MAX_SAFE_INTEGER)

const SCALARS: ReadonlyArray<Schema.Json> = ["string", "integer", "number", "boolean"]

/** Returns a scalar or null as one schema, instead of a union of two. */
const mergeNull = (schema: JsonObject): JsonObject => {
  const { anyOf, ...rest } = schema
  if (!Array.isArray(anyOf) || anyOf.length !== 2) return schema
  const [value, nothing] = anyOf
  if (!isObject(value) || !isObject(nothing) || nothing["type"] !== "null") return schema
  const { enum: values, type } = value
  if (type === undefined || !SCALARS.includes(type)) return schema
  return { ...rest, ...value, type: [type, "null"], ...(Array.isArray(values) ? { enum: [...values, null] } : {}) }
}

const cleanJson = (json: Schema.Json, openToMore: boolean): Schema.Json => {
  if (Array.isArray(json)) return json.map((item) => cleanJson(item, openToMore))
  return isObject(json) ? cleanSchema(json, openToMore) : json
}

/** The generator puts checks and annotations next to the type as an `allOf`. Returns one schema, unless two parts disagree. */
const mergeAllOf = (schema: JsonObject): JsonObject => {
  const { allOf, ...own } = schema
  if (!Array.isArray(allOf) || !allOf.every(isObject)) return schema
  const parts = [own, ...allOf]
  const merged: JsonObject = Object.assign({}, ...parts)
  const isWhole = (part: JsonObject) =>
    Object.entries(part).every(([key, value]) => JSON.stringify(value) === JSON.stringify(merged[key]))
  return parts.every(isWhole) ? merged : schema
}

/**
 * Simplifies a generated JSON Schema: removes bounds without effect, the pattern next to `format: uuid`, an `allOf` of
 * parts that agree, and unions of a scalar and null. Schemas of responses are `openToMore`, because later versions may add properties; schemas of requests
 * are closed, as are the objects inside them.
 */
export const cleanSchema = (given: JsonObject, openToMore: boolean): JsonObject => {
  const schema = mergeNull(given)
  const merged = mergeAllOf(schema)
  return Object.fromEntries(
    Object.entries(merged)
      .filter(
        ([key, value]) =>
          !isSafeIntegerBound(key, value) &&
          !(key === "pattern" && merged["format"] === "uuid") &&
          !(key === "additionalProperties" && value === false && openToMore)
      )
      .map(([key, value]) => [
        key,
        key === "additionalProperties" && value === true ? openToMore : cleanJson(value, openToMore)
      ])
  )
}

const COMPACT_KEYWORDS: ReadonlySet<string> = new Set([
  "type",
  "enum",
  "const",
  "format",
  "required",
  "additionalProperties"
])

const compactKeyword = (key: string, value: Schema.Json): ReadonlyArray<readonly [string, Schema.Json]> => {
  if (key === "properties" && isObject(value)) {
    return [[key, Object.fromEntries(Object.entries(value).map(([name, schema]) => [name, compactSchema(schema)]))]]
  }
  // Of the objects in a list only that they are objects.
  if (key === "items")
    return [[key, isObject(value) && value["type"] === "object" ? { type: "object" } : compactSchema(value)]]
  return COMPACT_KEYWORDS.has(key) ? [[key, value]] : []
}

/**
 * Reduces a JSON Schema so that it fits into a header: without descriptions, examples, defaults, limits and
 * patterns. The result accepts everything that the schema accepts.
 */
export const compactSchema = (schema: Schema.Json): Schema.Json =>
  isObject(schema)
    ? Object.fromEntries(Object.entries(schema).flatMap(([key, value]) => compactKeyword(key, value)))
    : schema

const SCHEMAS = "#/components/schemas/"

export const schemaRef = (name: string): JsonObject => ({ $ref: `${SCHEMAS}${name}` })

/** Returns the name of the component that a schema refers to; undefined if it is no reference. */
export const referenceOf = (schema: Schema.Json | undefined): string | undefined => {
  const ref = isObject(schema) ? schema["$ref"] : undefined
  return typeof ref === "string" && ref.startsWith(SCHEMAS) ? ref.slice(SCHEMAS.length) : undefined
}

/** Returns the one value of the property `type` of a component, which identifies it in a union. */
const tagOf = (component: Schema.Json | undefined): string | undefined => {
  const properties = isObject(component) ? component["properties"] : undefined
  const type = isObject(properties) ? properties["type"] : undefined
  const values = isObject(type) ? type["enum"] : undefined
  const [tag] = Array.isArray(values) && values.length === 1 ? values : []
  return typeof tag === "string" ? tag : undefined
}

/**
 * Returns the components with each union of components that differ by `type` as a discriminated union, which generators
 * translate to types that can be narrowed.
 */
export const discriminateUnions = (components: JsonObject): JsonObject =>
  Object.fromEntries(
    Object.entries(components).map(([name, component]) => {
      const { anyOf, ...rest } = isObject(component) ? component : {}
      if (!Array.isArray(anyOf)) return [name, component]
      const mapping = anyOf.map((member) => {
        const reference = referenceOf(member)
        const tag = reference === undefined ? undefined : tagOf(components[reference])
        return reference === undefined || tag === undefined ? undefined : ([tag, `${SCHEMAS}${reference}`] as const)
      })
      const tagged = mapping.filter((entry) => entry !== undefined)
      if (new Map(tagged).size !== anyOf.length) return [name, component]
      const discriminator = { propertyName: "type", mapping: Object.fromEntries(tagged) }
      return [name, { ...rest, oneOf: anyOf, discriminator }]
    })
  )
