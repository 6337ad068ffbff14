import { FORMAT_TEXTS, type JsonSchema, type ObjectSchema } from "./Schema.ts"

const isObjectSchema = (schema: JsonSchema): schema is ObjectSchema => schema["type"] === "object"

/** Applies a change to a schema and to those of its properties and items. */
const mapped = (schema: JsonSchema, change: (schema: JsonSchema) => JsonSchema): JsonSchema => {
  const { items, properties } = schema
  return change({
    ...schema,
    ...(items === undefined ? {} : { items: mapped(items as JsonSchema, change) }),
    ...(properties === undefined
      ? {}
      : {
          properties: Object.fromEntries(
            Object.entries(properties as Readonly<Record<string, JsonSchema>>).map(([name, property]) => [
              name,
              mapped(property, change)
            ])
          )
        })
  })
}

const without = (schema: JsonSchema, ...keywords: ReadonlyArray<string>): JsonSchema =>
  Object.fromEntries(Object.entries(schema).filter(([keyword]) => !keywords.includes(keyword)))

/** The formats of texts that every provider accepts. Gemini refuses all others. */
const FORMATS: ReadonlyArray<unknown> = ["date-time"]

const rangeText = (min: unknown, max: unknown, unit: string): ReadonlyArray<string> => {
  if (typeof min === "number" && typeof max === "number") return [`From ${min} to ${max}${unit}.`]
  if (typeof min === "number") return [`At least ${min}${unit}.`]
  return typeof max === "number" ? [`At most ${max}${unit}.`] : []
}

/** Returns the limits of a value in words, because several hosts drop the keywords before a model sees them. */
const limitsText = (schema: JsonSchema): ReadonlyArray<string> => {
  const { default: fallback, examples, format, maximum, maxItems, maxLength, minimum, minItems, type } = schema
  const [example] = Array.isArray(examples) ? (examples as ReadonlyArray<unknown>) : []
  return [
    ...(typeof format === "string" ? [FORMAT_TEXTS[format] ?? `Format: ${format}.`] : []),
    ...(Array.isArray(schema["enum"]) && type !== "string" ? [`One of: ${schema["enum"].join(", ")}.`] : []),
    ...rangeText(minimum, maximum, ""),
    ...rangeText(minItems, maxItems, " items"),
    ...rangeText(undefined, maxLength, " characters"),
    ...(fallback === undefined
      ? []
      : [`Default: ${typeof fallback === "string" ? fallback : JSON.stringify(fallback)}.`]),
    ...(typeof example === "string" && format !== "uuid" ? [`Example: ${example}`] : [])
  ]
}

/**
 * Returns a schema in the keywords that all providers of models accept: no examples, no formats but times, and no enum of
 * numbers. The descriptions also say the limits.
 */
export const portableSchema = (schema: ObjectSchema): ObjectSchema =>
  mapped(schema, (inner) => {
    const { description, format, type } = inner
    const limits = isObjectSchema(inner) ? [] : limitsText(inner)
    const kept = without(
      inner,
      "examples",
      ...(FORMATS.includes(format) ? [] : ["format"]),
      ...(type === "string" ? [] : ["enum"])
    )
    if (typeof description !== "string") return kept
    return { ...kept, description: [description, ...limits].join(" ") }
  }) as ObjectSchema

/**
 * Returns an input schema of a tool for the strict mode of OpenAI: all fields are required, and an optional one may be
 * null, which the tools read as missing.
 */
export const strictSchema = (schema: ObjectSchema): ObjectSchema =>
  mapped(schema, (inner) => {
    const kept = without(inner, "default", "maxLength", "minLength")
    if (!isObjectSchema(inner)) return kept
    const { properties, required } = inner
    const optional = ([name, property]: readonly [string, JsonSchema]) => {
      if (required.includes(name)) return [name, property]
      const values = property["enum"] as ReadonlyArray<unknown> | undefined
      const nulls = { type: [property["type"], "null"], ...(values === undefined ? {} : { enum: [...values, null] }) }
      return [name, { ...property, ...nulls }]
    }
    const all = Object.fromEntries(Object.entries(properties).map(optional)) as ObjectSchema["properties"]
    return { ...kept, properties: all, required: Object.keys(properties) }
  }) as ObjectSchema

/** Returns an input schema of a tool as an OpenAPI 3.0 schema, for `parameters` of a function declaration of Gemini. */
export const openApiSchema = (schema: ObjectSchema): JsonSchema =>
  mapped(schema, (inner) => {
    const isEmpty = (inner["required"] as ReadonlyArray<string> | undefined)?.length === 0
    return without(inner, "additionalProperties", ...(isEmpty ? ["required"] : []))
  })
