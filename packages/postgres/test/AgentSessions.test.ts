import {
  type AgentMessage,
  AgentSessions,
  type AgentTurn,
  AgentUnreachable,
  Timestamp,
  type TurnReply,
  Uuid
} from "@agentos/core"
import { layerPostgres, Postgres } from "@agentos/postgres"
import { assert, layer } from "@effect/vitest"
import { Array, Context, Effect, Fiber, Layer, Stream } from "effect"
import { TestPostgres } from "./support/TestPostgres.ts"

/** One of several servers on a database. */
const startServer = Effect.gen(function* () {
  const { url } = yield* TestPostgres
  const stores = Layer.provide(Postgres.layer, layerPostgres({ url, maxConnections: 4 }))
  const services = yield* Layer.build(Layer.fresh(Layer.provide(AgentSessions.layer, stores)))
  return Context.get(services, AgentSessions)
})
type Server = Effect.Success<typeof startServer>

const message = (callId: string): AgentMessage => ({
  callId,
  phoneNumberId: callId,
  direction: "inbound",
  from: "+12025550150",
  to: "+14155550100",
  turn: { text: "Hello?", at: Timestamp.Timestamp.make(Date.now()) },
  transcriptSoFar: Array.makeBy(20, (index) => ({
    index,
    role: "agent" as const,
    text: "A longer sentence of about eighty characters, as agents tend to speak in calls.",
    at: Timestamp.Timestamp.make(0)
  }))
})

const noUrl = Stream.fail(new AgentUnreachable({ reason: "address", message: "No session." }))

/** Connects a session that answers each turn at once. */
const connect = Effect.fnUntraced(function* (
  server: Server,
  tenantId: string,
  reply: (turn: AgentTurn) => ReadonlyArray<Omit<TurnReply, "callId" | "turnId">>
) {
  const sessionId = yield* Uuid.next
  yield* server.connect({
    sessionId,
    tenantId,
    phoneNumberIds: null,
    ask: (turn) => {
      for (const part of reply(turn)) server.reply(sessionId, { callId: turn.callId, turnId: turn.turnId, ...part })
    },
    interrupted: () => undefined
  })
  return sessionId
})

const ask = (server: Server, tenantId: string, callId: string) =>
  Stream.runCollect(server.ask(tenantId, message(callId), noUrl))

layer(TestPostgres.layer(), { excludeTestServices: true })("voice sessions", (it) => {
  it.effect("answer the calls of another server, many at once and in order", () =>
    Effect.gen(function* () {
      const [here, there] = [yield* startServer, yield* startServer]
      const tenantId = yield* Uuid.next
      const parts = ["One", "Two", "Three"]
      yield* connect(there, tenantId, ({ callId }) =>
        parts.map((part, index) => ({ text: `${part} ${callId}`, more: index < 2 }))
      )
      // Each must be confirmed within a second of real time, also on a busy machine.
      const callIds = yield* Effect.replicateEffect(Uuid.next, 20)
      const answers = yield* Effect.forEach(callIds, (callId) => ask(here, tenantId, callId), {
        concurrency: "unbounded"
      })
      assert.deepStrictEqual(
        answers,
        callIds.map((callId) => parts.map((part) => ({ _tag: "Say" as const, text: `${part} ${callId}` })))
      )
    })
  )

  it.effect("are replaced by one of another server when they close during a turn", () =>
    Effect.gen(function* () {
      const [here, there] = [yield* startServer, yield* startServer]
      const tenantId = yield* Uuid.next
      const closing: Array<string> = []
      const first: string = yield* connect(there, tenantId, () => {
        Effect.runFork(there.disconnect(closing))
        return [{ text: "Let me see", more: true }]
      })
      closing.push(first)
      const answered = yield* Effect.forkChild(ask(here, tenantId, yield* Uuid.next))
      yield* connect(here, tenantId, () => [{ text: "Here it is." }])
      const answer = yield* Fiber.join(answered)
      assert.deepStrictEqual(answer.at(-1), { _tag: "Say", text: "Here it is." })
    })
  )

  it.effect("add little time to a turn", () =>
    Effect.gen(function* () {
      const [here, there] = [yield* startServer, yield* startServer]
      const medianOf = Effect.fnUntraced(function* (owner: Server) {
        const tenantId = yield* Uuid.next
        yield* connect(owner, tenantId, () => [{ text: "Yes." }])
        const times: Array<number> = []
        for (const callId of yield* Effect.replicateEffect(Uuid.next, 60)) {
          const begun = performance.now()
          yield* ask(here, tenantId, callId)
          times.push(performance.now() - begun)
        }
        return times.toSorted((a, b) => a - b)[30]!
      })
      const [same, other] = [yield* medianOf(here), yield* medianOf(there)]
      yield* Effect.logInfo(`median time of a turn: ${same.toFixed(1)} ms here, ${other.toFixed(1)} ms across servers`)
      // Generous for a busy machine: about 1 ms and 7 ms on an idle one.
      assert.isBelow(same, 100)
      assert.isBelow(other, 300)
    })
  )
})
