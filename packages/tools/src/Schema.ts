import { format, type OutputUnit, type Schema, Validator } from "@cfworker/json-schema"

/** A JSON Schema of one value. */
export interface JsonSchema {
  readonly [keyword: string]: unknown
}

/** A JSON Schema of an object, the form that every host of tools accepts. */
export interface ObjectSchema extends JsonSchema {
  readonly type: "object"
  readonly properties: Readonly<Record<string, JsonSchema>>
  readonly required: Array<string>
  readonly additionalProperties: false
}

export const TEXT = { type: "string" } as const
export const TIME = { type: "string", format: "date-time" } as const

/** The type of the values that a schema allows, as far as tools need it. */
type ValueOf<S> = S extends { readonly enum: ReadonlyArray<infer Value> }
  ? Value
  : S extends { readonly type: "string" }
    ? string
    : S extends { readonly type: "integer" }
      ? number
      : S extends { readonly type: "boolean" }
        ? boolean
        : S extends { readonly type: "array"; readonly items: infer Item }
          ? Array<ValueOf<Item>>
          : S extends {
                readonly type: "object"
                readonly properties: infer Properties
                readonly required: infer Required
              }
            ? InputOf<Properties, Required extends ReadonlyArray<infer Name> ? Name : never>
            : unknown

/** The type of an object with these properties. */
export type InputOf<Properties, Required> = {
  readonly [Name in keyof Properties as Name extends Required ? Name : never]: ValueOf<Properties[Name]>
} & {
  readonly [Name in keyof Properties as Name extends Required ? never : Name]?: ValueOf<Properties[Name]>
}

export const objectSchema = (
  properties: Readonly<Record<string, JsonSchema>>,
  required: ReadonlyArray<string> = Object.keys(properties)
): ObjectSchema => ({ type: "object", properties, required: [...required], additionalProperties: false })

/** Returns a schema that also allows null. */
export const nullable = (schema: JsonSchema & { readonly type: string }): JsonSchema => ({
  ...schema,
  type: [schema.type, "null"]
})

/** A check before anything is sent; the server has the exact rule. The validator ignores formats that it does not know. */
format["idn-email"] ??= (text) => /^[^\s@<>,;]+@[^\s@<>,;]+$/.test(text)

/** The formats of texts, in words. */
export const FORMAT_TEXTS: Readonly<Record<string, string>> = {
  "date-time": "A time in ISO 8601 with its zone.",
  "idn-email": "An email address.",
  uuid: "A UUID."
}

/** Returns the schema of a part of a value. */
const schemaAt = (schema: JsonSchema, path: ReadonlyArray<string>): JsonSchema =>
  path.reduce<JsonSchema>((at, part) => {
    const properties = (at["properties"] ?? {}) as Readonly<Record<string, JsonSchema>>
    return (Object.hasOwn(properties, part) ? properties[part] : (at["items"] as JsonSchema | undefined)) ?? {}
  }, schema)

/** Returns the reason for an error in the words of the schema, where those of the validator do not name it. */
const reasonOf = ({ error, keyword }: OutputUnit, { description, format: name }: JsonSchema): string => {
  if (keyword === "pattern" && typeof description === "string") return `does not match its description: ${description}`
  const text = keyword === "format" && typeof name === "string" ? FORMAT_TEXTS[name] : undefined
  return text === undefined ? error : `is not ${text[0]!.toLowerCase()}${text.slice(1)}`
}

/** More are not reported, because the first one is mostly the cause of the others. */
const ISSUES_MAX = 5

/** Returns the errors of a value, each with the place of the field; empty for a valid value. */
export const issuesOf = (schema: ObjectSchema, value: unknown): ReadonlyArray<string> => {
  const { errors } = new Validator(schema as unknown as Schema, "2020-12", false).validate(value)
  // An error about a whole object or list repeats those about its parts.
  const specific = errors.filter(
    ({ error, keyword }) => keyword !== "properties" && keyword !== "items" && error !== "False boolean schema."
  )
  return specific.slice(0, ISSUES_MAX).map((unit) => {
    const path = unit.instanceLocation.split("/").slice(1)
    const part = schemaAt(schema, path)
    const unknown =
      unit.keyword === "additionalProperties" ? /^Property "(.*)" does not match/s.exec(unit.error)?.[1] : undefined
    const place = [...path, ...(unknown === undefined ? [] : [unknown.slice(0, 64)])].join(".")
    const reason =
      unknown === undefined
        ? reasonOf(unit, part)
        : `is not a field. The fields are ${Object.keys(part["properties"] as object).join(", ")}.`
    return place === "" ? reason : `${place}: ${reason}`
  })
}
