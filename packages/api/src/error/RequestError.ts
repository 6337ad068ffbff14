import { OperatorRole, ServiceId } from "@agentos/core"
import { Schema } from "effect"

export class RouteUnknown extends Schema.TaggedError<RouteUnknown>()("RouteUnknown", { path: Schema.String }) {}

/** The path exists, but does not accept this method. */
export class MethodNotAllowed extends Schema.TaggedError<MethodNotAllowed>()("MethodNotAllowed", {
  method: Schema.String,
  path: Schema.String,
  /** In the order of the Allow header; never empty. */
  allowed: Schema.Array(Schema.String)
}) {}

/** The request did not arrive within its time limit. */
export class RequestTimedOut extends Schema.TaggedError<RequestTimedOut>()("RequestTimedOut", {}) {}

export class BodyTooLarge extends Schema.TaggedError<BodyTooLarge>()("BodyTooLarge", { limitBytes: Schema.Int }) {}

export class UriTooLong extends Schema.TaggedError<UriTooLong>()("UriTooLong", { limitBytes: Schema.Int }) {}

export class HeadersTooLarge extends Schema.TaggedError<HeadersTooLarge>()("HeadersTooLarge", {
  limitBytes: Schema.Int
}) {}

export class TooManyHeaders extends Schema.TaggedError<TooManyHeaders>()("TooManyHeaders", { limit: Schema.Int }) {}

/** The memory for request bodies is exhausted: the client's own share, or the whole memory of the server. */
export class BodyMemoryExhausted extends Schema.TaggedError<BodyMemoryExhausted>()("BodyMemoryExhausted", {
  exhausted: Schema.Literals(["share", "whole"]),
  retryAfterSeconds: Schema.Int
}) {}

/** The body is not declared as plain JSON. */
export class MediaTypeUnsupported extends Schema.TaggedError<MediaTypeUnsupported>()("MediaTypeUnsupported", {
  message: Schema.String
}) {}

/** The path accepts WebSocket upgrades only. */
export class UpgradeRequired extends Schema.TaggedError<UpgradeRequired>()("UpgradeRequired", {}) {}

/** The request needs a token and has none. */
export class OnboardingRequired extends Schema.TaggedError<OnboardingRequired>()("OnboardingRequired", {
  /** The start-here service that issues a token. */
  startWith: ServiceId
}) {}

/** The operator's token is missing or wrong. */
export class OperatorRefused extends Schema.TaggedError<OperatorRefused>()("OperatorRefused", {
  /** The setting that has the token, as the operator knows it. */
  setting: Schema.String
}) {}

/** The operator's role does not include the route. */
export class OperatorForbidden extends Schema.TaggedError<OperatorForbidden>()("OperatorForbidden", {
  operator: Schema.String,
  role: OperatorRole,
  needed: OperatorRole
}) {}

/** A browser asks to sign in for a page of another site. */
export class CrossSiteSignIn extends Schema.TaggedError<CrossSiteSignIn>()("CrossSiteSignIn", {
  publicUrl: Schema.String,
  /** The setting that lists the origins of other sites, as the operator knows it. */
  setting: Schema.String
}) {}

export class RateLimited extends Schema.TaggedError<RateLimited>()("RateLimited", {
  retryAfterSeconds: Schema.Int,
  /** The limit, its window and the limited client: "1200 requests in 60 s from one address". */
  limit: Schema.optionalKey(Schema.String)
}) {}

/** This server does not offer the service: it is never available, or a required provider is not configured. */
export class ServiceUnavailable extends Schema.TaggedError<ServiceUnavailable>()("ServiceUnavailable", {
  ever: Schema.Boolean
}) {}

/** The server stops, and takes no more requests. */
export class ServerStopping extends Schema.TaggedError<ServerStopping>()("ServerStopping", {}) {}

/** The database is not available at the moment. */
export class StorageUnavailable extends Schema.TaggedError<StorageUnavailable>()("StorageUnavailable", {
  /** Whether the request has a payment, whose state is therefore unknown. */
  withPayment: Schema.Boolean
}) {}

/** The server works on too many requests already, and did not begin this one. */
export class ServerBusy extends Schema.TaggedError<ServerBusy>()("ServerBusy", {}) {}

/** The packages for download are being packed, or could not be packed. */
export class DownloadsUnavailable extends Schema.TaggedError<DownloadsUnavailable>()("DownloadsUnavailable", {
  reason: Schema.Literals(["building", "failed"])
}) {}

/** The request was not finished in its time. The operation may have been performed. */
export class RequestDelayed extends Schema.TaggedError<RequestDelayed>()("RequestDelayed", {}) {}

/** The request of an operator was not finished in its time. */
export class OperatorDelayed extends Schema.TaggedError<OperatorDelayed>()("OperatorDelayed", {
  /** Whether it has changed something. */
  changed: Schema.Literals(["no", "yes", "unknown"])
}) {}

/** An unexpected failure. The log has the cause under the request's id. */
export class InternalError extends Schema.TaggedError<InternalError>()("InternalError", {
  /** Whether the request has a payment, whose state is therefore unknown. */
  withPayment: Schema.Boolean
}) {}

/** Errors of a request before it reaches the domain: errors of HTTP, missing tokens and unavailable services. */
export const RequestError = Schema.Union([
  RouteUnknown,
  MethodNotAllowed,
  RequestTimedOut,
  BodyTooLarge,
  UriTooLong,
  HeadersTooLarge,
  TooManyHeaders,
  BodyMemoryExhausted,
  MediaTypeUnsupported,
  UpgradeRequired,
  OnboardingRequired,
  OperatorRefused,
  OperatorForbidden,
  CrossSiteSignIn,
  RateLimited,
  ServiceUnavailable,
  ServerStopping,
  StorageUnavailable,
  ServerBusy,
  DownloadsUnavailable,
  RequestDelayed,
  OperatorDelayed,
  InternalError
])
export type RequestError = typeof RequestError.Type

export const isRequestError = Schema.is(RequestError)
