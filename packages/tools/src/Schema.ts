import { format, type Schema, Validator } from "@cfworker/json-schema"

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

/** More are not reported, because the first one is mostly the cause of the others. */
const ISSUES_MAX = 5

/** Returns the errors of a value, each with the place of the field; empty for a valid value. */
export const issuesOf = (schema: ObjectSchema, value: unknown): ReadonlyArray<string> => {
  const { errors } = new Validator(schema as unknown as Schema, "2020-12", false).validate(value)
  // An error about a whole object or list repeats those about its parts.
  const specific = errors.filter(
    ({ error, keyword }) => keyword !== "properties" && keyword !== "items" && error !== "False boolean schema."
  )
  return specific.slice(0, ISSUES_MAX).map(({ error, instanceLocation }) => {
    const place = instanceLocation.replace(/^#\/?/, "").replaceAll("/", ".")
    return place === "" ? error : `${place}: ${error}`
  })
}
