import { InvalidRequest, type Issue, type JsonBudget, scanJson } from "@agentos/core"
import { Effect, Option, Schema, SchemaIssue } from "effect"

/** Maximum number of issues in a response. */
const ISSUES_SHOWN = 50
/** Maximum length of one issue's message, in characters. It may quote the client's input. */
const MESSAGE_LIMIT = 200

const leafHook: SchemaIssue.LeafHook = (issue) => {
  switch (issue._tag) {
    case "MissingKey":
      return "required"
    case "UnexpectedKey":
      return "unknown property"
    case "InvalidType":
      // The first case is input where none is accepted. The second is a value of another type where a named object
      // schema expects an object.
      if (issue.ast._tag === "Never") return "unknown property"
      if (issue.ast._tag === "Objects") return "Expected an object"
      return SchemaIssue.defaultLeafHook(issue)
    default:
      return SchemaIssue.defaultLeafHook(issue)
  }
}

const format = SchemaIssue.makeFormatterStandardSchemaV1({ leafHook })

/** Returns an error that lists every issue, up to the maximum. */
export const refusal = (issues: ReadonlyArray<Issue>): InvalidRequest => {
  const shown = issues
    .slice(0, ISSUES_SHOWN)
    .map(({ message, path }) => ({ path, message: message.slice(0, MESSAGE_LIMIT) }))
  const [only] = shown
  const paths = [...new Set(shown.map(({ path }) => path))].join(", ")
  return new InvalidRequest({
    message: issues.length === 1 && only !== undefined ? only.message : `The request is not valid: see ${paths}`,
    issues: shown
  })
}

const segmentText = (segment: PropertyKey | { readonly key: PropertyKey }): string =>
  String(typeof segment === "object" ? segment.key : segment)

const ObjectShape = Schema.Struct({
  $ref: Schema.optionalKey(Schema.String),
  properties: Schema.optionalKey(
    Schema.Record(Schema.String, Schema.Struct({ maxItems: Schema.optionalKey(Schema.Int) }))
  )
})
const decodeShapes = Schema.decodeUnknownSync(
  Schema.Struct({ schema: ObjectShape, definitions: Schema.Record(Schema.String, ObjectShape) })
)

/** Returns the maximum number of items of each array property. The contract has no deeper arrays. */
const itemLimitsOf = (codec: Schema.Codec<unknown, unknown>): ReadonlyArray<readonly [string, number]> => {
  const { definitions, schema } = decodeShapes(Schema.toJsonSchemaDocument(codec))
  const { properties = {} } = definitions[schema.$ref?.split("/").at(-1) ?? ""] ?? schema
  return Object.entries(properties).flatMap(([name, { maxItems }]) =>
    maxItems === undefined ? [] : [[name, maxItems] as const]
  )
}

/**
 * Decodes a client's input. Every issue is reported with its path, and unknown properties are issues. The length of an
 * array is checked before its items.
 */
export const decodeInput = <A>(
  codec: Schema.Codec<A, unknown>
): ((input: unknown) => Effect.Effect<A, InvalidRequest>) => {
  const decode = Schema.decodeUnknownEffect(codec, { errors: "all", onExcessProperty: "error" })
  const itemLimits = itemLimitsOf(codec)
  return (input) => {
    const properties = new Map(typeof input === "object" && input !== null ? Object.entries(input) : [])
    const tooLong = itemLimits.flatMap(([path, limit]) => {
      const items: unknown = properties.get(path)
      return Array.isArray(items) && items.length > limit
        ? [{ path, message: `has ${items.length} items; at most ${limit} are allowed` }]
        : []
    })
    if (tooLong.length > 0) return Effect.fail(refusal(tooLong))
    return Effect.mapError(decode(input), ({ issue }) =>
      refusal(
        format(issue).issues.map(({ message, path = [] }) => ({ path: path.map(segmentText).join("."), message }))
      )
    )
  }
}

const notJson = refusal([{ path: "", message: "the body is not a JSON text in UTF-8" }])
const required = refusal([{ path: "", message: "a JSON body is required" }])

const decodeUtf8 = Option.liftThrowable((bytes: Uint8Array) => new TextDecoder("utf-8", { fatal: true }).decode(bytes))
const parseJson = Schema.decodeUnknownOption(Schema.fromJsonString(Schema.Unknown))

/**
 * Returns the JSON value of a body that is unambiguous and within its budget. Parsing a body of several megabytes takes
 * long enough to let other requests run between its steps.
 */
export const parseBody = Effect.fnUntraced(function* (
  bytes: Uint8Array,
  budget: JsonBudget
): Effect.fn.Return<unknown, InvalidRequest> {
  if (bytes.length === 0) return yield* required
  const yieldNow = bytes.length > YIELDING_BYTES ? Effect.yieldNow : Effect.void
  const flaw = scanJson(bytes, budget)
  if (flaw !== undefined) return yield* refusal([flaw])
  yield* yieldNow
  const text = decodeUtf8(bytes)
  if (Option.isNone(text)) return yield* notJson
  yield* yieldNow
  const value = parseJson(text.value)
  if (Option.isNone(value)) return yield* notJson
  yield* yieldNow
  return value.value
})

/** Parsing a shorter body takes a few milliseconds. */
const YIELDING_BYTES = 1024 * 1024
