/**
 * The port between a provider and the HTTP server: the webhooks and WebSockets through which the provider reaches this
 * service. The provider's package knows the paths, signatures and formats. The server knows connections, limits, the
 * rate of unauthenticated requests, logs and shutdown. Nothing here depends on either.
 */
import { type Cause, Context, Data, type Effect, type Option, type Queue } from "effect"

/** A request of a provider, as received. */
export interface IngressRequest {
  /** Path and query, because signatures cover both. */
  readonly target: string
  /** The value of the parameter in the path; empty if the path has none. */
  readonly parameter: string
  /** By name in lower case. */
  readonly headers: Readonly<Record<string, string | undefined>>
}

/** `BodyError` is why the body did not arrive. The server answers it; handlers let it pass. */
export interface IngressWebhookRequest<BodyError> extends IngressRequest {
  /** Reads the bytes of the body as received, for signatures. Nothing is read before. */
  readonly body: Effect.Effect<Uint8Array, BodyError>
}

export interface IngressWebhookResponse {
  readonly status: number
  readonly contentType?: string
  readonly body?: string
}

/**
 * The request does not prove that it comes from the provider. The server answers it with 403, and counts it toward the
 * rate limit of its address. Authenticated requests are not rate limited.
 */
export class Unauthenticated extends Data.TaggedError("Unauthenticated") {}

export interface IngressWebhook {
  readonly method: "GET" | "POST" | "PUT"
  /** Below `/webhooks/`. The last segment may be a parameter: `/webhooks/carrier/status/{callId}`. */
  readonly path: `/webhooks/${string}`
  /** Checked before the handler runs: 413 and 415 otherwise. */
  readonly limits: {
    readonly bodyBytes: number
    /** The media type of the body, without parameters. */
    readonly mediaType: string
  }
  /** Authenticates the request by its raw form, then answers it. */
  readonly handle: <BodyError>(
    request: IngressWebhookRequest<BodyError>
  ) => Effect.Effect<IngressWebhookResponse, BodyError | Unauthenticated>
}

/** An open WebSocket of a provider. Pings, pongs and binary messages are not visible here. */
export interface IngressSocket {
  /** Text messages in order of arrival. Ends when the socket closes. */
  readonly messages: Queue.Dequeue<string, Cause.Done>
  /** Sends a text message. Does nothing if the socket is closed; closes it if the peer reads too slowly. */
  readonly send: (text: string) => Effect.Effect<void>
  /** Closes the socket with a code of RFC 6455. */
  readonly close: (code: number, reason: string) => Effect.Effect<void>
}

/** The purpose of an admitted socket. */
export interface SocketSession {
  /** Identifies the subject of the socket, such as a call, in logs and limits. */
  readonly id: string
  /**
   * Uses the socket until it returns. Then, or if it fails, the server closes the socket. After the socket has closed,
   * it has two seconds to return before it is interrupted.
   */
  readonly run: (socket: IngressSocket) => Effect.Effect<void>
}

export interface SocketEndpoint {
  /** As in `IngressWebhook`. The parameter is a secret: logs contain its name only. */
  readonly path: `/webhooks/${string}`
  readonly limits: {
    /** Concurrent sockets of the endpoint on one server. More are refused with 503. */
    readonly sockets: number
    readonly messageBytes: number
    /** Frames of one session. A socket that exceeds them is closed with 1008. */
    readonly frames: { readonly burst: number; readonly perSecond: number }
    /** Messages that `run` has not taken yet. A socket that exceeds them is closed with 1008. */
    readonly unreadMessages: number
  }
  /** Decides by computation alone whether the handshake comes from the provider. If not, it counts as `Unauthenticated`. */
  readonly isAuthentic: (handshake: IngressRequest) => boolean
  /** Returns the session of an authentic handshake, or none (404). Redeems single-use tokens. */
  readonly admit: (handshake: IngressRequest) => Effect.Effect<Option.Option<SocketSession>>
  /**
   * Runs when the server stops, while its sockets are closed with 1012. The server answers webhooks until this returns,
   * for a limited time, so that the provider can ask how the sessions continue.
   */
  readonly drain: (sessionIds: ReadonlyArray<string>) => Effect.Effect<void>
}

/** The paths through which one provider reaches this service. */
export interface ProviderIngress {
  /** In logs. */
  readonly provider: string
  /** Headers, in lower case, that a request may contain once, such as that of the signature: 400 otherwise. */
  readonly singleHeaders: ReadonlyArray<string>
  readonly webhooks: ReadonlyArray<IngressWebhook>
  readonly sockets: ReadonlyArray<SocketEndpoint>
}

/** The ingress of every configured provider. */
export class Ingress extends Context.Service<Ingress, ReadonlyArray<ProviderIngress>>()(
  "@agentos/core/ingress/Ingress"
) {}
