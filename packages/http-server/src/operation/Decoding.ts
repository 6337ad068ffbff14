import { InvalidRequest, type Issue } from "@agentos/core"
import { Effect, Option, Schema, SchemaIssue } from "effect"
import { findFlaw } from "./JsonText.ts"

/** Most flaws that an answer names. */
const ISSUES_SHOWN = 50

const leafHook: SchemaIssue.LeafHook = (issue) => {
  switch (issue._tag) {
    case "MissingKey":
      return "required"
    case "UnexpectedKey":
      return "unknown property"
    case "InvalidType":
      // What is sent where nothing is taken; and another kind of value where an object is, whose schema has a name.
      if (issue.ast._tag === "Never") return "unknown property"
      if (issue.ast._tag === "Objects") return "Expected an object"
      return SchemaIssue.defaultLeafHook(issue)
    default:
      return SchemaIssue.defaultLeafHook(issue)
  }
}

const format = SchemaIssue.makeFormatterStandardSchemaV1({ leafHook })

/** An error that names every flaw, or as many as an answer has room for. */
const refusal = (issues: ReadonlyArray<Issue>): InvalidRequest => {
  const [only] = issues
  const shown = issues.slice(0, ISSUES_SHOWN)
  const paths = [...new Set(shown.map(({ path }) => path))].join(", ")
  return new InvalidRequest({
    message: issues.length === 1 && only !== undefined ? only.message : `The request is not valid: see ${paths}`,
    issues: shown
  })
}

const segmentText = (segment: PropertyKey | { readonly key: PropertyKey }): string =>
  String(typeof segment === "object" ? segment.key : segment)

/** Decodes what a client sent: every flaw is named with its path, and unknown properties are flaws. */
export const decodeInput = <A>(
  codec: Schema.Codec<A, unknown>
): ((input: unknown) => Effect.Effect<A, InvalidRequest>) => {
  const decode = Schema.decodeUnknownEffect(codec, { errors: "all", onExcessProperty: "error" })
  return (input) =>
    Effect.mapError(decode(input), ({ issue }) =>
      refusal(
        format(issue).issues.map(({ message, path = [] }) => ({ path: path.map(segmentText).join("."), message }))
      )
    )
}

const notJson = refusal([{ path: "", message: "the body is not a JSON text in UTF-8" }])
const required = refusal([{ path: "", message: "a JSON body is required" }])

const decodeUtf8 = Option.liftThrowable((bytes: Uint8Array) => new TextDecoder("utf-8", { fatal: true }).decode(bytes))
const parseJson = Schema.decodeUnknownOption(Schema.fromJsonString(Schema.Unknown))

/** The JSON value of a body whose text has one meaning alone. */
export const parseBody = Effect.fnUntraced(function* (bytes: Uint8Array): Effect.fn.Return<unknown, InvalidRequest> {
  if (bytes.length === 0) return yield* required
  const text = decodeUtf8(bytes)
  if (Option.isNone(text)) return yield* notJson
  const flaw = findFlaw(text.value)
  if (flaw !== undefined) return yield* refusal([{ path: flaw.path, message: flaw.message }])
  return yield* Effect.mapError(Effect.fromOption(parseJson(text.value)), () => notJson)
})
