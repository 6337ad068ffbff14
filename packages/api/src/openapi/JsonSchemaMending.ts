import type { Schema } from "effect"

export type JsonObject = { readonly [key: string]: Schema.Json }

export const isObject = (json: Schema.Json | undefined): json is JsonObject =>
  typeof json === "object" && json !== null && !Array.isArray(json)

/** Bounds that say no more than that a number is an integer a program can hold. */
const isSafeIntegerBound = (key: string, value: Schema.Json): boolean =>
  (key === "minimum" && value === Number.MIN_SAFE_INTEGER) || (key === "maximum" && value === Number.MAX_SAFE_INTEGER)

const mendObject = (schema: JsonObject, openToMore: boolean): JsonObject => {
  const { allOf, ...own } = schema
  // A check that brings a schema of its own is generated beside the type, as a single `allOf`.
  const only = Array.isArray(allOf) && allOf.length === 1 ? allOf[0] : undefined
  const merged = isObject(only) ? { ...own, ...only } : schema
  return Object.fromEntries(
    Object.entries(merged)
      .filter(
        ([key, value]) =>
          !isSafeIntegerBound(key, value) &&
          !(key === "pattern" && merged["format"] === "uuid") &&
          !(key === "additionalProperties" && value === false && openToMore)
      )
      .map(([key, value]) => [key, mendSchema(value, openToMore)])
  )
}

/**
 * A generated JSON Schema as people would write it: no bounds that say nothing, no
 * pattern beside `format: uuid`, no `allOf` of one. What is sent to clients may
 * gain properties in later versions, so it is `openToMore`; what they send is closed.
 */
export const mendSchema = (schema: Schema.Json, openToMore: boolean): Schema.Json => {
  if (Array.isArray(schema)) return schema.map((item) => mendSchema(item, openToMore))
  return isObject(schema) ? mendObject(schema, openToMore) : schema
}
