import { issuesOf, type JsonSchema, objectSchema, type ObjectSchema } from "./Schema.ts"

/*
 * Models send missing values as null, "" or the word of a language for no value, and values as text, because some hosts make
 * every field required or have only text. What such an input can mean is clear, so it is understood.
 */

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value)

const isMissing = (value: unknown): boolean => value === undefined || value === null || value === ""

/** Returns the array or the object in a JSON text; otherwise the text. */
const parsed = (text: string): unknown => {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === "object" ? value : text
  } catch {
    return text
  }
}

/** How JSON, Python and JavaScript write that there is no value. */
const NO_VALUE = /^\s*(?:null|none|undefined)\s*$/i

/** Whether a text says that there is no value, where the text itself would be wrong. */
const isNoValue = (value: unknown, schema: JsonSchema): boolean => {
  if (typeof value !== "string" || !NO_VALUE.test(value)) return false
  if (schema["type"] === "array" && parsed(value) === null) return true
  return issuesOf(objectSchema({ value: schema }), { value: understood(value, schema) }).length > 0
}

const INTEGER = /^\s*[+-]?\d{1,15}(?:\.0+)?\s*$/

const understoodText = (value: unknown, { enum: values }: JsonSchema): unknown => {
  if (typeof value === "number" && Number.isSafeInteger(value)) return String(value)
  if (typeof value !== "string" || !Array.isArray(values)) return value
  const wanted = value.trim().toLowerCase()
  return (values as ReadonlyArray<unknown>).find((one) => String(one).toLowerCase() === wanted) ?? value
}

const understoodBoolean = (value: unknown): unknown => {
  const word = typeof value === "string" ? value.trim().toLowerCase() : value
  if (word === "true") return true
  return word === "false" ? false : value
}

/** Returns a value in the type of its schema if that is clear; otherwise as it is. */
const understood = (value: unknown, schema: JsonSchema): unknown => {
  switch (schema["type"]) {
    case "string":
      return understoodText(value, schema)
    case "integer":
      return typeof value === "string" && INTEGER.test(value) ? Number(value) : value
    case "boolean":
      return understoodBoolean(value)
    case "array": {
      const list = typeof value === "string" ? parsed(value) : value
      const items = Array.isArray(list) ? (list as ReadonlyArray<unknown>) : [list]
      return items.filter((item) => !isMissing(item)).map((item) => understood(item, schema["items"] as JsonSchema))
    }
    case "object":
      return understoodObject(value, schema as ObjectSchema)
    default:
      return value
  }
}

const understoodObject = (value: unknown, { properties, required }: ObjectSchema): unknown => {
  const fields = typeof value === "string" ? parsed(value) : value
  if (!isRecord(fields)) return fields
  return Object.fromEntries(
    Object.entries(fields).flatMap(([name, field]) => {
      const schema = Object.hasOwn(properties, name) ? properties[name] : undefined
      // A required text may be empty.
      const isAbsent = required.includes(name)
        ? field === undefined || field === null
        : isMissing(field) || (schema !== undefined && isNoValue(field, schema))
      if (isAbsent) return []
      return [[name, schema === undefined ? field : understood(field, schema)]]
    })
  )
}

/** Returns a right value of a schema, for a model that sent a wrong one. */
const exampleOf = (schema: JsonSchema): unknown => {
  const { default: fallback, enum: values, examples, items, minimum, type } = schema
  const [first] = [...((examples ?? values ?? []) as ReadonlyArray<unknown>)]
  if (first !== undefined) return first
  if (fallback !== undefined) return fallback
  if (type === "object") return exampleInput(schema as ObjectSchema)
  if (type === "array") return [exampleOf(items as JsonSchema)]
  if (type === "boolean") return true
  return type === "integer" ? (minimum ?? 1) : "text"
}

/** Returns a right input with the required fields, and with others by name. */
export const exampleInput = (
  { properties, required }: ObjectSchema,
  others: ReadonlyArray<string> = []
): Readonly<Record<string, unknown>> =>
  Object.fromEntries(
    Object.entries(properties)
      .filter(([name]) => required.includes(name) || others.includes(name))
      .map(([name, schema]) => [name, exampleOf(schema)])
  )

/** An input as its tool understands it, or its errors. */
export type ParsedInput =
  | { readonly input: Readonly<Record<string, unknown>> }
  | { readonly issues: ReadonlyArray<string>; readonly example: Readonly<Record<string, unknown>> }

/** Returns an input in the types of its schema, or each wrong field with the reason, and an example of a right input. */
export const parseInput = (schema: ObjectSchema, sent: unknown): ParsedInput => {
  // PHP writes an object without fields as [].
  const isEmpty = isMissing(sent) || (Array.isArray(sent) && sent.length === 0)
  const input = isEmpty ? {} : understoodObject(sent, schema)
  const { properties, required } = schema
  if (!isRecord(input)) return { issues: ["The input must be an object."], example: exampleInput(schema) }
  const names = Object.keys(properties)
  const missing = required.filter((name) => !Object.hasOwn(input, name)).map((name) => `${name}: is required.`)
  const unknown = Object.keys(input).filter((name) => !Object.hasOwn(properties, name))
  const known = names.length === 0 ? "There are no inputs." : `The inputs are ${names.join(", ")}.`
  const fields = Object.fromEntries(Object.entries(input).filter(([name]) => !unknown.includes(name)))
  const issues = [
    ...missing,
    ...unknown.map((name) => `${name.slice(0, 64)}: is not an input of this tool.`),
    ...issuesOf({ ...schema, required: [] }, fields),
    ...(unknown.length > 0 ? [known] : [])
  ]
  if (issues.length === 0) return { input }
  const wrong = issues.map((issue) => issue.slice(0, issue.search(/[.:]/)))
  return { issues, example: exampleInput(schema, wrong) }
}
