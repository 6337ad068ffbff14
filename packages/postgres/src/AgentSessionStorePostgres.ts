import { AgentSessionStore, MESSAGE_LIFETIME, SESSION_LEASE, Uuid } from "@agentos/core"
import { Effect, Layer, Queue } from "effect"
import { storeClock } from "./ClockOffset.ts"
import { Database } from "./Database.ts"
import { orDie } from "./DatabaseFailure.ts"
import * as Parameter from "./Parameter.ts"
import * as Row from "./Row.ts"
import * as Table from "./Table.ts"

const SESSIONS = Table.table("agent_sessions", {
  sessionId: Table.uuid("session_id"),
  tenantId: Table.uuid("tenant_id"),
  serverId: Table.uuid("server_id"),
  phoneNumberIds: Table.asText<ReadonlyArray<string>>(
    (text) => text.split(","),
    (ids) => ids.join(",")
  ).orNull("phone_number_ids")
})

/** Delay before messages are read again after a failure. */
const RETRY_AFTER = "100 millis"

export const layer: Layer.Layer<AgentSessionStore, never, Database> = Layer.effect(
  AgentSessionStore,
  Effect.gen(function* () {
    const { announcements, sql } = yield* Database
    const { now } = yield* storeClock
    const serverId = yield* Uuid.next

    /** Takes the messages to this server, in the order in which they were sent. */
    const takeMessages = Effect.map(
      orDie(sql<{ readonly message_id: bigint; readonly body: string }>`
        delete from server_messages where server_id = ${Parameter.uuid(serverId)} returning message_id, body`),
      (rows) => rows.toSorted((a, b) => (a.message_id < b.message_id ? -1 : 1))
    )

    return AgentSessionStore.of({
      serverId,
      keep: (sessions) =>
        sessions.length === 0
          ? Effect.void
          : Row.run(sql`
            with forgotten as (delete from agent_sessions where expires_at <= ${now()} - ${Parameter.integer(SESSION_LEASE)})
            insert into agent_sessions (session_id, tenant_id, server_id, phone_number_ids, expires_at)
            select session_id, tenant_id, server_id, nullif(phone_number_ids, ''), ${now()} + ${Parameter.integer(SESSION_LEASE)}
            from unnest(
              ${Parameter.uuids(sessions.map(({ sessionId }) => sessionId))},
              ${Parameter.uuids(sessions.map(({ tenantId }) => tenantId))},
              ${Parameter.uuids(sessions.map((session) => session.serverId))},
              ${Parameter.texts(sessions.map(({ phoneNumberIds }) => phoneNumberIds?.join(",") ?? ""))}
            ) kept (session_id, tenant_id, server_id, phone_number_ids)
            on conflict (session_id) do update set expires_at = excluded.expires_at`),
      remove: (sessionIds) =>
        Row.run(sql`delete from agent_sessions where session_id = any(${Parameter.uuids(sessionIds)})`),
      list: (tenantId) =>
        Row.all(SESSIONS.toRecord)(sql<Table.Stored<typeof SESSIONS>>`
          select ${sql.literal(SESSIONS.columns)} from agent_sessions
          where tenant_id = ${Parameter.uuid(tenantId)} and expires_at > ${now()} order by session_id`),
      send: (messages) => {
        const to = [...new Set(messages.map((message) => message.to))]
        return Effect.andThen(
          orDie(sql`
            with expired as (delete from server_messages where expires_at <= ${now()})
            insert into server_messages (server_id, body, expires_at)
            select server_id, body, ${now()} + ${Parameter.integer(MESSAGE_LIFETIME)}
            from unnest(
              ${Parameter.uuids(messages.map((message) => message.to))},
              ${Parameter.texts(messages.map(({ body }) => body))}
            ) with ordinality sent (server_id, body, place)
            order by place`),
          announcements.announceMessages(to)
        )
      },
      listen: Effect.fnUntraced(function* (receive) {
        // One wake-up in the queue stands for all that arrive before the messages are read.
        const woken = yield* Queue.sliding<void>(1)
        yield* announcements.listenMessages(serverId, () => Queue.offerUnsafe(woken, undefined))
        const read = Effect.andThen(
          Queue.take(woken),
          Effect.map(takeMessages, (rows) => rows.forEach(({ body }) => receive(body)))
        )
        yield* Effect.forkScoped(
          Effect.forever(
            Effect.catchCause(read, (cause) =>
              Effect.logError("reading messages of other servers failed; retrying", cause).pipe(
                Effect.andThen(Effect.sleep(RETRY_AFTER)),
                Effect.andThen(Queue.offer(woken, undefined))
              )
            )
          )
        )
      })
    })
  })
)
