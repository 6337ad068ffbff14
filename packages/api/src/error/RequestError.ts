import { ServiceId } from "@agentos/core"
import { Schema } from "effect"

/** Nothing is at this path. */
export class RouteUnknown extends Schema.TaggedError<RouteUnknown>()("RouteUnknown", { path: Schema.String }) {}

/** Something is at this path, but not for this method. */
export class MethodNotAllowed extends Schema.TaggedError<MethodNotAllowed>()("MethodNotAllowed", {
  method: Schema.String,
  path: Schema.String,
  /** In the order of the Allow header; never empty. */
  allowed: Schema.Array(Schema.String)
}) {}

/** The request did not arrive within the time that it is given. */
export class RequestTimedOut extends Schema.TaggedError<RequestTimedOut>()("RequestTimedOut", {}) {}

export class BodyTooLarge extends Schema.TaggedError<BodyTooLarge>()("BodyTooLarge", { limitBytes: Schema.Int }) {}

export class UriTooLong extends Schema.TaggedError<UriTooLong>()("UriTooLong", { limitBytes: Schema.Int }) {}

export class HeadersTooLarge extends Schema.TaggedError<HeadersTooLarge>()("HeadersTooLarge", {
  limitBytes: Schema.Int
}) {}

export class TooManyHeaders extends Schema.TaggedError<TooManyHeaders>()("TooManyHeaders", { limit: Schema.Int }) {}

/** The memory for request bodies is used up: the client's own share of it, or the server's whole. */
export class BodyMemoryExhausted extends Schema.TaggedError<BodyMemoryExhausted>()("BodyMemoryExhausted", {
  exhausted: Schema.Literals(["share", "whole"]),
  retryAfterSeconds: Schema.Int
}) {}

/** The body is not declared as plain JSON. */
export class MediaTypeUnsupported extends Schema.TaggedError<MediaTypeUnsupported>()("MediaTypeUnsupported", {
  message: Schema.String
}) {}

/** This path speaks the WebSocket protocol alone. */
export class UpgradeRequired extends Schema.TaggedError<UpgradeRequired>()("UpgradeRequired", {}) {}

/** No token came with a request that needs one. */
export class OnboardingRequired extends Schema.TaggedError<OnboardingRequired>()("OnboardingRequired", {
  /** The start-here service that gives a token. */
  startWith: ServiceId
}) {}

/** The operator's token is missing or wrong. */
export class OperatorRefused extends Schema.TaggedError<OperatorRefused>()("OperatorRefused", {}) {}

export class RateLimited extends Schema.TaggedError<RateLimited>()("RateLimited", {
  retryAfterSeconds: Schema.Int,
  /** What may be had in which time, and by whom: "1200 requests in 60 s from one address". */
  limit: Schema.optionalKey(Schema.String)
}) {}

/** The service can't be had on this server: it never can, or what it needs is not configured. */
export class ServiceUnavailable extends Schema.TaggedError<ServiceUnavailable>()("ServiceUnavailable", {
  ever: Schema.Boolean
}) {}

/** Something failed that should not have; the log has the cause under the request's id. */
export class InternalError extends Schema.TaggedError<InternalError>()("InternalError", {
  /** Whether a payment came with the request, so that what became of it is not known. */
  withPayment: Schema.Boolean
}) {}

/**
 * What is wrong with a request before it reaches the domain: the errors of HTTP
 * itself, of tokens that are missing and of services that are not there.
 */
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
  RateLimited,
  ServiceUnavailable,
  InternalError
])
export type RequestError = typeof RequestError.Type

export const isRequestError = Schema.is(RequestError)
