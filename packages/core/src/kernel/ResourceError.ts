import { Schema } from "effect"

export const ResourceKind = Schema.Literals(["mailbox", "message", "event", "number", "call", "service"])
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

/** The request is well formed, but conflicts with the current state of the resource. */
export class Conflict extends Schema.TaggedError<Conflict>()("Conflict", {
  message: Schema.String
}) {}

/** The number has expired or was released permanently. No operation on it is possible. */
export class NumberReleased extends Schema.TaggedError<NumberReleased>()("NumberReleased", {
  phoneNumberId: Schema.String
}) {}

/** The requested service would last longer than the number's entitlement. */
export class NumberExpiring extends Schema.TaggedError<NumberExpiring>()("NumberExpiring", {
  phoneNumberId: Schema.String
}) {}

/** The number has too few inbound seconds left for the request. */
export class AllowanceExhausted extends Schema.TaggedError<AllowanceExhausted>()("AllowanceExhausted", {
  phoneNumberId: Schema.String
}) {}

/** One problem of a request: its place (`to.0`, `subject`) and a message. */
export const Issue = Schema.Struct({ path: Schema.String, message: Schema.String })
export type Issue = typeof Issue.Type

/** The request is invalid. The same request will always fail. */
export class InvalidRequest extends Schema.TaggedError<InvalidRequest>()("InvalidRequest", {
  message: Schema.String,
  issues: Schema.Array(Issue)
}) {}

export const invalid = (path: string, message: string): InvalidRequest =>
  new InvalidRequest({ message, issues: [{ path, message }] })
