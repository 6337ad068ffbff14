import { Schema } from "effect"

export const ResourceKind = Schema.Literals([
  "mailbox",
  "message",
  "thread",
  "attachment",
  "event",
  "number",
  "call",
  "service",
  "tenant",
  "job",
  "webhook",
  "operation",
  "operator",
  "event webhook",
  "waiting mail",
  "waiting message"
])
export type ResourceKind = typeof ResourceKind.Type

/** No tenant has a resource with this id. */
export class ResourceNotFound extends Schema.TaggedError<ResourceNotFound>()("ResourceNotFound", {
  kind: ResourceKind,
  id: Schema.String
}) {}

/** The resource belongs to another tenant. */
export class ResourceNotOwned extends Schema.TaggedError<ResourceNotOwned>()("ResourceNotOwned", {
  kind: ResourceKind,
  id: Schema.String
}) {}

/** The resource exists, but the requested content of it is not stored. */
export class ContentNotStored extends Schema.TaggedError<ContentNotStored>()("ContentNotStored", {
  message: Schema.String
}) {}

/** The request is well formed, but conflicts with the current state of the resource. */
export class Conflict extends Schema.TaggedError<Conflict>()("Conflict", {
  message: Schema.String,
  /** The resource whose state explains the conflict, or the list of that kind if `id` is null. */
  read: Schema.optionalKey(Schema.Struct({ kind: ResourceKind, id: Schema.NullOr(Schema.String) }))
}) {}

/** The number has expired or was released permanently. No operation on it is possible. */
export class NumberReleased extends Schema.TaggedError<NumberReleased>()("NumberReleased", {
  phoneNumberId: Schema.String,
  country: Schema.Literals(["US", "CA"])
}) {}

/** The requested service would last longer than the number's entitlement. */
export class NumberExpiring extends Schema.TaggedError<NumberExpiring>()("NumberExpiring", {
  phoneNumberId: Schema.String
}) {}

/** The call has ended because its number had no inbound seconds left. */
export class AllowanceExhausted extends Schema.TaggedError<AllowanceExhausted>()("AllowanceExhausted", {
  phoneNumberId: Schema.String
}) {}

/** One problem of a request: its place (`to.0`, `subject`; empty for the whole body), and the error there. */
export const Issue = Schema.Struct({
  path: Schema.String.annotateKey({ description: "The invalid part, for example `to.0`; empty for the whole body." }),
  message: Schema.String.annotateKey({ description: "The problem, as a clause that continues the path." })
})
export type Issue = typeof Issue.Type

/** The request is invalid. The same request will always fail. */
export class InvalidRequest extends Schema.TaggedError<InvalidRequest>()("InvalidRequest", {
  message: Schema.String,
  issues: Schema.Array(Issue)
}) {}

/** Messages that name their property themselves: "missing property `to`". */
const NAMES_PROPERTY = /^(?:missing|unknown) /

/** Returns an issue as one clause: "to.0 must be an email address", "missing property `to`". */
export const issueText = ({ message, path }: Issue): string =>
  NAMES_PROPERTY.test(message) ? message : `${path === "" ? "The body" : path} ${message}`

/** Returns the error for one invalid part of a request. `message` continues `path`: "must be a UUID". */
export const invalid = (path: string, message: string): InvalidRequest => {
  const issue = { path, message }
  return new InvalidRequest({ message: issueText(issue), issues: [issue] })
}
