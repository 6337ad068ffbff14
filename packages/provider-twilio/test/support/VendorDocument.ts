import { readFileSync } from "node:fs"

/** The parts of an OpenAPI 3.0 document that requests are checked against. */
interface ValueSchema {
  readonly type?: string
  readonly enum?: ReadonlyArray<unknown>
  readonly pattern?: string
  readonly minLength?: number
  readonly maxLength?: number
  readonly minimum?: number
  readonly maximum?: number
  readonly items?: ValueSchema
  readonly $ref?: string
}
interface VendorOperation {
  readonly parameters?: ReadonlyArray<{
    readonly in: string
    readonly name: string
    readonly required?: boolean
    readonly schema: ValueSchema
  }>
  readonly requestBody?: {
    readonly content: Readonly<
      Record<
        string,
        {
          readonly schema: {
            readonly required?: ReadonlyArray<string>
            readonly properties?: Readonly<Record<string, ValueSchema>>
          }
        }
      >
    >
  }
  readonly responses: Readonly<
    Record<
      string,
      {
        readonly content?: Readonly<
          Record<string, { readonly examples?: Readonly<Record<string, { readonly value: unknown }>> }>
        >
      }
    >
  >
}
export interface VendorDocument {
  readonly paths: Readonly<Record<string, Readonly<Record<string, VendorOperation>>>>
  readonly components: { readonly schemas: Readonly<Record<string, ValueSchema>> }
}

export const readVendorDocument = (file: string): VendorDocument =>
  JSON.parse(readFileSync(file, "utf8")) as VendorDocument

/** A request as it was sent. */
export interface VendorRequest {
  readonly method: string
  /** With its query. */
  readonly url: string
  readonly contentType: string | undefined
  readonly authorization: string | undefined
  readonly form: URLSearchParams
}

/** The result of checking a request against the document. */
export interface Verdict {
  /** The operation in the document: `post /2010-04-01/Accounts/{AccountSid}/Calls.json`; undefined if it has none. */
  readonly operation: string | undefined
  /** The differences from the document; anything that it does not name counts. */
  readonly faults: ReadonlyArray<string>
  /** The status and the first example of the response. */
  readonly status: number
  readonly example: unknown
}

const FORM = "application/x-www-form-urlencoded"

/** Checks a request against the document: its path, and every parameter of path, query and form. */
export const judge = (document: VendorDocument, request: VendorRequest): Verdict => {
  const { pathname, searchParams } = new URL(request.url, "http://vendor.example")
  const method = request.method.toLowerCase()
  for (const [template, methods] of Object.entries(document.paths)) {
    const inPath = matchOf(template, pathname)
    const operation = methods[method]
    if (inPath === undefined || operation === undefined) continue
    const expected = new Map((operation.parameters ?? []).map((one) => [`${one.in} ${one.name}`, one]))
    const body = operation.requestBody?.content[FORM]?.schema
    const fields = body?.properties ?? {}
    const given = [
      ...inPath.map(([name, value]) => [`path ${name}`, value, expected.get(`path ${name}`)?.schema] as const),
      ...[...searchParams].map(
        ([name, value]) => [`query ${name}`, value, expected.get(`query ${name}`)?.schema] as const
      ),
      ...[...request.form].map(([name, value]) => [`form ${name}`, value, fields[name]] as const)
    ]
    const names = new Set<string>(given.map(([name]) => name))
    const required = [
      ...[...expected].filter(([, { required }]) => required === true).map(([name]) => name),
      ...(body?.required ?? []).map((name) => `form ${name}`)
    ]
    const [status, answer] = Object.entries(operation.responses).find(([code]) => code.startsWith("2")) ?? ["500", {}]
    return {
      operation: `${method} ${template}`,
      faults: [
        ...given.flatMap(([name, value, schema]) => valueFaults(document, name, value, schema)),
        ...required.filter((name) => !names.has(name)).map((name) => `${name}: missing`),
        ...(/^Basic [A-Za-z0-9+/]+=*$/.test(request.authorization ?? "") ? [] : ["no credentials"]),
        ...(request.form.size > 0 && request.contentType?.split(";")[0] !== FORM ? ["no form"] : [])
      ],
      status: Number(status),
      example: Object.values(answer.content?.["application/json"]?.examples ?? {})[0]?.value
    }
  }
  return { operation: undefined, faults: [`${method} ${pathname}: unknown`], status: 404, example: {} }
}

/** Returns the parameters of a path by its template; undefined if the path does not match. */
const matchOf = (template: string, pathname: string): ReadonlyArray<readonly [string, string]> | undefined => {
  const names = [...template.matchAll(/\{(\w+)\}/g)].map(([, name = ""]) => name)
  // Besides their parameters, templates contain only one kind of special character of patterns: dots.
  const pattern = template.replaceAll(".", String.raw`\.`).replaceAll(/\{\w+\}/g, "([^/]+?)")
  const match = new RegExp(`^${pattern}$`).exec(pathname)
  return match === null ? undefined : names.map((name, index) => [name, decodeURIComponent(match[index + 1] ?? "")])
}

/** Values are text: each is checked against its schema in the document. */
const valueFaults = (
  document: VendorDocument,
  name: string,
  value: string,
  given: ValueSchema | undefined
): ReadonlyArray<string> => {
  if (given === undefined) return [`${name}: unknown`]
  const schema = given.$ref === undefined ? given : document.components.schemas[given.$ref.split("/").at(-1) ?? ""]
  if (schema === undefined) return [`${name}: no schema ${given.$ref}`]
  if (schema.type === "array") return valueFaults(document, name, value, schema.items ?? {})
  const number = Number(value)
  const isFit =
    (schema.type !== "boolean" || /^(?:true|false)$/.test(value)) &&
    (schema.type !== "integer" || /^-?\d+$/.test(value)) &&
    (schema.enum === undefined || schema.enum.includes(value)) &&
    (schema.pattern === undefined || new RegExp(schema.pattern).test(value)) &&
    value.length >= (schema.minLength ?? 0) &&
    value.length <= (schema.maxLength ?? Infinity) &&
    (schema.minimum === undefined || number >= schema.minimum) &&
    (schema.maximum === undefined || number <= schema.maximum)
  return isFit ? [] : [`${name}: ${JSON.stringify(value)}`]
}
