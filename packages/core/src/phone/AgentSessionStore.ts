import { Context, Effect, Scope } from "effect"
import type { TenantId } from "../tenancy/Tenant.ts"

/** A voice session: a socket over which an agent answers calls, and the server that has it. */
export interface AgentSession {
  readonly sessionId: string
  readonly tenantId: TenantId
  readonly serverId: string
  /** The numbers whose calls it answers, at least one; null for all numbers of its tenant. */
  readonly phoneNumberIds: ReadonlyArray<string> | null
}

export interface ServerMessage {
  readonly to: string
  readonly body: string
}

/** How long a session is listed after it was last renewed, in milliseconds. */
export const SESSION_LEASE = 30_000
/** A message that has not arrived after this time is dropped, in milliseconds. */
export const MESSAGE_LIFETIME = 60_000

/**
 * The port through which the servers of a deployment find each other's voice sessions and exchange the turns of calls.
 * Nothing in it outlives a minute: a session that is not renewed is forgotten, and so is a message to a server that is
 * gone.
 */
export class AgentSessionStore extends Context.Service<
  AgentSessionStore,
  {
    /** The address of this server, which no other server has. */
    readonly serverId: string
    /** Lists sessions for `SESSION_LEASE` from now: new ones, and again those that are listed. */
    readonly keep: (sessions: ReadonlyArray<AgentSession>) => Effect.Effect<void>
    readonly remove: (sessionIds: ReadonlyArray<string>) => Effect.Effect<void>
    /** Returns the listed sessions of a tenant on all servers, in the order of their ids. */
    readonly list: (tenantId: TenantId) => Effect.Effect<ReadonlyArray<AgentSession>>
    /**
     * Sends messages. Those of one server to another arrive at most once, in this order, and only at a server that
     * listens.
     */
    readonly send: (messages: ReadonlyArray<ServerMessage>) => Effect.Effect<void>
    /**
     * Calls `receive` for each message to this server until the scope closes. `receive` must not throw and must return
     * quickly.
     */
    readonly listen: (receive: (body: string) => void) => Effect.Effect<void, never, Scope.Scope>
  }
>()("@agentos/core/phone/AgentSessionStore") {}
