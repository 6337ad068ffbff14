import { Context, Schema, SchemaIssue } from "effect"
import type { Issue } from "./ResourceError.ts"

/**
 * How messages to the operator name an option of the composition: by default as the option itself. A host that is
 * configured otherwise, for example by environment variables, provides the names of its settings.
 */
export const SettingName = Context.Reference<(option: string) => string>("@agentos/core/kernel/SettingName", {
  defaultValue: () => (option) => option
})

const MISSING = "missing"
const UNKNOWN = "unknown"

/** Effect's messages about values, as predicates of a part of a request. Other messages are written as predicates. */
const PREDICATES: ReadonlyArray<readonly [RegExp, string]> = [
  [/^Expected a value with a length of at most (\d+)$/, "must have at most $1 characters"],
  [/^Expected a value with a length of at least 1$/, "must not be empty"],
  [/^Expected a value between (\S+) and (\S+)$/, "must be between $1 and $2"],
  [/^Expected a string representing a finite number$/, "must be a number"],
  [/^Expected (string|number)$/, "must be a $1"],
  [/^Expected (array|object)$/, "must be an $1"],
  [/^Expected boolean$/, "must be true or false"],
  [/^Expected /, "must be "]
]
const LITERALS = /^Expected ("[^"]*"(?: \| "[^"]*")+)$/

const predicateOf = (message: string): string => {
  const literals = LITERALS.exec(message)?.[1]
  if (literals !== undefined) return `must be one of ${literals.replaceAll(" | ", ", ").replaceAll('"', "")}`
  const predicate = PREDICATES.find(([pattern]) => pattern.test(message))
  return predicate === undefined ? message : message.replace(...predicate)
}

/** Limits the length of an array, and says so: the message of a bare length is about characters. */
export const maxEntries = (count: number) => Schema.isMaxLength(count, { message: `must have at most ${count} items` })

const leafHook: SchemaIssue.LeafHook = (issue) => {
  switch (issue._tag) {
    case "MissingKey":
      return MISSING
    case "UnexpectedKey":
      return UNKNOWN
    case "InvalidType":
      // Input where none is accepted, and a value of another type where a named schema expects an object.
      if (issue.ast._tag === "Never") return UNKNOWN
      return issue.ast._tag === "Objects" ? "Expected object" : SchemaIssue.defaultLeafHook(issue)
    default:
      return SchemaIssue.defaultLeafHook(issue)
  }
}

const format = SchemaIssue.makeFormatterStandardSchemaV1({ leafHook })

const segmentText = (segment: PropertyKey | { readonly key: PropertyKey }): string =>
  String(typeof segment === "object" ? segment.key : segment)

/** The kind of the parts of an input, as messages name it. */
export type InputKind = "property" | "query parameter" | "path parameter"

/** Returns every problem that a schema found in an input, in plain English. */
export const issuesOf = (issue: SchemaIssue.Issue, kind: InputKind = "property"): ReadonlyArray<Issue> =>
  format(issue).issues.map(({ message, path = [] }) => {
    const place = path.map(segmentText).join(".")
    if (message === MISSING || message === UNKNOWN) return { path: place, message: `${message} ${kind} \`${place}\`` }
    // Every query parameter is a string, unless it appears more than once.
    if (kind === "query parameter" && message === "Expected string") return { path: place, message: "must appear once" }
    return { path: place, message: predicateOf(message) }
  })

/** Returns every problem of a setting as a sentence that begins with its place: `networks.0.payTo is missing`. */
export const settingIssues = (name: string, issue: SchemaIssue.Issue): ReadonlyArray<string> =>
  issuesOf(issue).map(({ message, path }) => {
    const place = path === "" ? name : `${name}.${path}`
    return `${place} ${message.replace(/^(missing|unknown) .*$/, "is $1")}`
  })

/** The settings of a host are not valid. The message lists every invalid one on its own line, and contains no secret. */
export class ConfigurationInvalid extends Schema.TaggedError<ConfigurationInvalid>()("ConfigurationInvalid", {
  issues: Schema.Array(Schema.String)
}) {
  override get message(): string {
    return ["Invalid configuration:", ...this.issues.map((issue) => `  ${issue}`)].join("\n")
  }
}
