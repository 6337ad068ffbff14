import { Context, Effect, type Redacted, Schema } from "effect"
import type { Timestamp } from "../kernel/Timestamp.ts"

/** A signed request to an event webhook. */
export interface WebhookRequest {
  readonly url: string
  /** The `webhook-id` header: the same for each attempt at an event. */
  readonly id: string
  /** The `webhook-timestamp` header: the time of this attempt. */
  readonly timestamp: Timestamp
  readonly body: string
  /** At least one. Each signs the request, so that a receiver may know any of them. */
  readonly secrets: ReadonlyArray<Redacted.Redacted<string>>
}

/** The endpoint gave no complete answer. `message` explains why and is safe to show to the tenant. */
export class WebhookUnreachable extends Schema.TaggedError<WebhookUnreachable>()("WebhookUnreachable", {
  message: Schema.String
}) {}

/** The port that posts events to the webhooks of tenants. */
export class WebhookClient extends Context.Service<
  WebhookClient,
  {
    /**
     * Returns why a URL is not a valid webhook, or undefined if it is valid: it must use https, and its host name must
     * resolve to public addresses at this moment.
     */
    readonly refusal: (url: string) => Effect.Effect<string | undefined>
    /**
     * Posts once, signed per Standard Webhooks, and returns the status of the answer. Never retries, follows no
     * redirects, and checks the address again on the connection itself. Ends within 15 s.
     */
    readonly post: (request: WebhookRequest) => Effect.Effect<number, WebhookUnreachable>
  }
>()("@agentos/core/events/WebhookClient") {}
