import { at, document, isObject, type Json, text } from "./Contract.ts"
import { anchorOf, type Page, paragraphs, table } from "./Page.ts"

const PREFIX = "#/components/schemas/"

const schemas = (): Readonly<Record<string, Json>> =>
  at(document, "components", "schemas") as Readonly<Record<string, Json>>

const nameOf = (reference: string): string => reference.slice(PREFIX.length)

/** Returns the link to the shape of a record. */
const recordLink = (name: string): string => `[\`${name}\`](/docs/reference/records#${anchorOf(name)})`

/** Returns links to the records that a schema refers to, without those inside other records. */
export const recordLinks = (schema: Json): ReadonlyArray<string> => {
  const names = new Set<string>()
  const visit = (value: Json): void => {
    if (Array.isArray(value)) value.forEach(visit)
    if (!isObject(value)) return
    const reference = value["$ref"]
    if (typeof reference === "string" && reference.startsWith(PREFIX)) names.add(nameOf(reference))
    else Object.values(value).forEach(visit)
  }
  visit(schema)
  return [...names].map(recordLink)
}

/** Returns the type of a schema in words, with links to other records. */
const typeOf = (schema: Json): string => {
  if (!isObject(schema)) return "any"
  const { $ref: reference, const: constant, enum: values, type } = schema
  if (typeof reference === "string") return recordLink(nameOf(reference))
  if (constant !== undefined) return `\`${JSON.stringify(constant)}\``
  if (Array.isArray(values)) return values.map((value) => `\`${JSON.stringify(value)}\``).join(", ")
  const choices = schema["anyOf"] ?? schema["oneOf"]
  if (Array.isArray(choices)) return [...new Set(choices.map(typeOf))].join(" or ")
  if (type === "array") return `array of ${typeOf(schema["items"])}`
  if (type === "null") return "null"
  if (type === "object" && isObject(schema["properties"]))
    return `object with ${Object.entries(schema["properties"])
      .map(([name, property]) => `\`${name}\` (${typeOf(property)})`)
      .join(", ")}`
  return (
    [
      Array.isArray(type) ? type.join(" or ") : text(type),
      text(schema["format"]) === "" ? "" : `(${text(schema["format"])})`
    ]
      .filter(Boolean)
      .join(" ") || "any"
  )
}

/** Returns the record whose fields another one has too, and the fields of its own. */
const partsOf = (schema: Json): { readonly base: string | undefined; readonly own: Json } => {
  const parts = at(schema, "allOf")
  if (!Array.isArray(parts)) return { base: undefined, own: schema }
  const reference = parts.map((part) => at(part, "$ref")).find((value) => typeof value === "string")
  return { base: reference, own: parts.find((part) => at(part, "$ref") === undefined) ?? {} }
}

const fieldRows = (schema: Json): ReadonlyArray<ReadonlyArray<string>> => {
  const properties = at(schema, "properties")
  const required = at(schema, "required")
  if (!isObject(properties)) return []
  return Object.entries(properties).map(([name, property]) => [
    `\`${name}\``,
    `${typeOf(property)}${Array.isArray(required) && required.includes(name) ? "" : ", optional"}`,
    text(at(property, "description"))
  ])
}

const fieldTable = (rows: ReadonlyArray<ReadonlyArray<string>>): string =>
  rows.some(([, , description]) => description !== "")
    ? table(["Field", "Type", "Description"], rows)
    : table(
        ["Field", "Type"],
        rows.map(([field = "", type = ""]) => [field, type])
      )

/** Returns a table of the fields of a record, without those of these names. */
export const recordFields = (name: string, without: ReadonlyArray<string>): string =>
  fieldTable(fieldRows(at(schemas(), name)).filter(([field]) => !without.some((each) => field === `\`${each}\``)))

/** Returns the description of a record. */
export const recordDescription = (name: string): string => text(at(schemas(), name, "description"))

const record = ([name, schema]: readonly [string, Json]): string => {
  const { base, own } = partsOf(schema)
  const rows = fieldRows(own)
  return paragraphs(
    `## ${name}`,
    text(at(schema, "description")),
    base === undefined ? "" : `It has the fields of ${recordLink(nameOf(base))} as well.`,
    rows.length === 0 ? `${typeOf(schema)}.` : fieldTable(rows)
  )
}

/** Returns the page with the shapes of all records. */
export const recordsPage = (): Page => ({
  slug: "reference/records",
  title: "Records",
  description: "The fields of every record in requests, responses, events and socket messages.",
  markdown: paragraphs(
    "Responses may gain fields in later versions, so ignore those that you do not know. Requests with an unknown field are refused.",
    ...Object.entries(schemas())
      .toSorted(([a], [b]) => a.localeCompare(b))
      .map(record)
  )
})
