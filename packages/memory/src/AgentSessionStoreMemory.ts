import { type AgentSession, AgentSessionStore, SESSION_LEASE, Timestamp, Uuid } from "@agentos/core"
import { Effect, Layer } from "effect"
import { MemoryDatabase } from "./MemoryDatabase.ts"

/** The voice sessions of all servers that share a database in memory. Each layer is a server. */
export const layer = Layer.effect(
  AgentSessionStore,
  Effect.gen(function* () {
    const { agentSessions, servers } = yield* MemoryDatabase
    const serverId = yield* Uuid.next
    return AgentSessionStore.of({
      serverId,
      keep: (sessions) =>
        Effect.map(Timestamp.now, (now) => {
          for (const session of sessions) {
            agentSessions.set(session.sessionId, { session, expiresAt: Timestamp.add(now, SESSION_LEASE) })
          }
        }),
      remove: (sessionIds) =>
        Effect.sync(() => {
          for (const sessionId of sessionIds) agentSessions.delete(sessionId)
        }),
      list: (tenantId) =>
        Effect.map(Timestamp.now, (now) => {
          const listed: Array<AgentSession> = []
          for (const [sessionId, { expiresAt, session }] of agentSessions) {
            if (expiresAt <= now) agentSessions.delete(sessionId)
            else if (session.tenantId === tenantId) listed.push(session)
          }
          return listed.toSorted((a, b) => (a.sessionId < b.sessionId ? -1 : 1))
        }),
      send: (messages) =>
        Effect.sync(() => {
          for (const { body, to } of messages) servers.get(to)?.(body)
        }),
      listen: (receive) =>
        Effect.acquireRelease(
          Effect.sync(() => void servers.set(serverId, receive)),
          () => Effect.sync(() => void servers.delete(serverId))
        )
    })
  })
)
