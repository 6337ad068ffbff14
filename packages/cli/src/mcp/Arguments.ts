import { isRecord, parseJson } from "../file/Json.ts"

const typesOf = (schema: unknown): ReadonlyArray<unknown> => {
  const type = isRecord(schema) ? schema["type"] : undefined
  return Array.isArray(type) ? (type as ReadonlyArray<unknown>) : [type]
}

/** A number as models write it in quotes. */
const DECIMAL = /^-?\d{1,15}(?:\.\d{1,15})?$/

const valueOf = (value: unknown, schema: unknown): unknown => {
  const types = typesOf(schema)
  if (typeof value !== "string" || types.includes("string")) return value
  if (types.includes("array") || types.includes("object") || types.includes("boolean")) {
    const parsed = parseJson(value)
    const type = Array.isArray(parsed) ? "array" : isRecord(parsed) ? "object" : typeof parsed
    return types.includes(type) ? parsed : value
  }
  return (types.includes("integer") || types.includes("number")) && DECIMAL.test(value) ? Number(value) : value
}

/**
 * Returns the arguments of a call as its schema has them. Many models and hosts send null or an empty text for an optional
 * argument that they do not use, and lists and numbers as text. Everything else is left to the validation of the tool.
 */
export const argumentsOf = (
  given: Readonly<Record<string, unknown>>,
  inputSchema: unknown
): Record<string, unknown> => {
  const properties = isRecord(inputSchema) && isRecord(inputSchema["properties"]) ? inputSchema["properties"] : {}
  const required = isRecord(inputSchema) && Array.isArray(inputSchema["required"]) ? inputSchema["required"] : []
  const isUnused = (name: string, value: unknown): boolean =>
    name in properties &&
    !required.includes(name) &&
    ((value === null && !typesOf(properties[name]).includes("null")) || value === "")
  return Object.fromEntries(
    Object.entries(given).flatMap(([name, value]) =>
      isUnused(name, value) ? [] : [[name, valueOf(value, properties[name])] as const]
    )
  )
}
