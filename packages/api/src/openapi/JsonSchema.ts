import type { Schema } from "effect"

export type JsonObject = { readonly [key: string]: Schema.Json }

export const isObject = (json: Schema.Json | undefined): json is JsonObject =>
  typeof json === "object" && json !== null && !Array.isArray(json)

/** Returns whether a bound only states that a number is a safe integer. */
const isSafeIntegerBound = (key: string, value: Schema.Json): boolean =>
  (key === "minimum" && value === Number.MIN_SAFE_INTEGER) || (key === "maximum" && value === Number.MAX_SAFE_INTEGER)

const cleanObject = (schema: JsonObject, openToMore: boolean): JsonObject => {
  const { allOf, ...own } = schema
  // The generator puts a check with its own schema next to the type, as a single `allOf`.
  const single = Array.isArray(allOf) && allOf.length === 1 ? allOf[0] : undefined
  const merged = isObject(single) ? { ...own, ...single } : schema
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
        key === "additionalProperties" && value === true ? openToMore : cleanSchema(value, openToMore)
      ])
  )
}

/**
 * Simplifies a generated JSON Schema: removes bounds without effect, the pattern next to `format: uuid`, and an
 * `allOf` of one. Schemas of responses are `openToMore`, because later versions may add properties; schemas of requests
 * are closed, as are the objects inside them.
 */
export const cleanSchema = (schema: Schema.Json, openToMore: boolean): Schema.Json => {
  if (Array.isArray(schema)) return schema.map((item) => cleanSchema(item, openToMore))
  return isObject(schema) ? cleanObject(schema, openToMore) : schema
}

const COMPACT_KEYWORDS: ReadonlySet<string> = new Set([
  "type",
  "enum",
  "const",
  "format",
  "pattern",
  "required",
  "additionalProperties"
])
const COMPACT_PATTERN_LENGTH = 40

const compactKeyword = (key: string, value: Schema.Json): ReadonlyArray<readonly [string, Schema.Json]> => {
  if (key === "properties" && isObject(value)) {
    return [[key, Object.fromEntries(Object.entries(value).map(([name, schema]) => [name, compactSchema(schema)]))]]
  }
  if (key === "items") return [[key, compactSchema(value)]]
  const isLong = key === "pattern" && typeof value === "string" && value.length > COMPACT_PATTERN_LENGTH
  return COMPACT_KEYWORDS.has(key) && !isLong ? [[key, value]] : []
}

/**
 * Reduces a JSON Schema so that it fits into a header: without descriptions, examples, defaults, limits and long
 * patterns. The result accepts everything that the schema accepts.
 */
export const compactSchema = (schema: Schema.Json): Schema.Json =>
  isObject(schema)
    ? Object.fromEntries(Object.entries(schema).flatMap(([key, value]) => compactKeyword(key, value)))
    : schema
