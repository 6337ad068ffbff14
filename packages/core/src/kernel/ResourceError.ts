import { Schema } from "effect"

export const ResourceKind = Schema.Literals(["mailbox", "message", "event", "number", "call", "service"])
export type ResourceKind = typeof ResourceKind.Type

/** No tenant has a resource of this id. */
export class ResourceNotFound extends Schema.TaggedError<ResourceNotFound>()("ResourceNotFound", {
  kind: ResourceKind,
  id: Schema.String
}) {}

/** The resource belongs to another tenant. */
export class ResourceNotOwned extends Schema.TaggedError<ResourceNotOwned>()("ResourceNotOwned", {
  kind: ResourceKind,
  id: Schema.String
}) {}

/** The request is well formed, but the state of things does not allow it. */
export class Conflict extends Schema.TaggedError<Conflict>()("Conflict", {
  message: Schema.String
}) {}

/** The number's time is over, or it was given back: nothing can be done with it any more. */
export class NumberReleased extends Schema.TaggedError<NumberReleased>()("NumberReleased", {
  phoneNumberId: Schema.String
}) {}

/** What is asked for would last longer than the number's entitlement. */
export class NumberExpiring extends Schema.TaggedError<NumberExpiring>()("NumberExpiring", {
  phoneNumberId: Schema.String
}) {}

/** The number has no inbound seconds left for what is asked. */
export class AllowanceExhausted extends Schema.TaggedError<AllowanceExhausted>()("AllowanceExhausted", {
  phoneNumberId: Schema.String
}) {}

/** One thing wrong with a request: where (`to.0`, `subject`) and what. */
export const Issue = Schema.Struct({ path: Schema.String, message: Schema.String })
export type Issue = typeof Issue.Type

/** The request itself is wrong; the same request will always be. */
export class InvalidRequest extends Schema.TaggedError<InvalidRequest>()("InvalidRequest", {
  message: Schema.String,
  issues: Schema.Array(Issue)
}) {}

/** An `InvalidRequest` with a single issue. */
export const invalid = (path: string, message: string): InvalidRequest =>
  new InvalidRequest({ message, issues: [{ path, message }] })
