import {
  type AgentMessage,
  type AgentReply,
  AgentSessions,
  type AgentTurn,
  AgentUnreachable,
  type ConnectedSession,
  Timestamp,
  type TurnReply,
  TURNS_IN_FLIGHT_MAX
} from "@agentos/core"
import { Memory, MemoryDatabase } from "@agentos/memory"
import { assert, describe, it } from "@effect/vitest"
import { Array, Context, Effect, Exit, Fiber, Layer, Scope, Stream } from "effect"
import { TestClock } from "effect/testing"

const TENANT = "019ab1c8-0000-7000-8000-000000000001"
const OTHER = "019ab1c8-0000-7000-8000-000000000002"

const message = (callId: string, text = "Hello?"): AgentMessage => ({
  callId,
  phoneNumberId: "019ab1c8-0000-7000-8000-00000000000a",
  direction: "inbound",
  from: "+12025550150",
  to: "+14155550100",
  turn: { text, at: Timestamp.Timestamp.make(0) },
  transcriptSoFar: []
})

/** A server of a deployment, with its own side of the sessions. */
const newServer = Effect.gen(function* () {
  const scope = yield* Scope.make()
  const database = yield* MemoryDatabase
  const layer = Layer.provide(AgentSessions.layer, Layer.fresh(Memory.stores))
  const context = yield* Layer.buildWithScope(Layer.fresh(layer), scope).pipe(
    Effect.provideService(MemoryDatabase, database)
  )
  return { sessions: Context.get(context, AgentSessions), stop: Scope.close(scope, Exit.void) }
})
type Server = Effect.Success<typeof newServer>

/** A connected session that answers each turn by `answer`, and records the turns that it receives. */
const newAgent = Effect.fnUntraced(function* (
  { sessions }: Server,
  sessionId: string,
  answer: (turn: AgentTurn) => ReadonlyArray<Omit<TurnReply, "callId" | "turnId">> = () => [],
  { phoneNumberIds = null, tenantId = TENANT }: Partial<Pick<ConnectedSession, "phoneNumberIds" | "tenantId">> = {}
) {
  const turns: Array<AgentTurn> = []
  const interrupted: Array<string> = []
  yield* sessions.connect({
    sessionId,
    tenantId,
    phoneNumberIds,
    ask: (turn) => {
      turns.push(turn)
      for (const reply of answer(turn)) {
        sessions.reply(sessionId, { callId: turn.callId, turnId: turn.turnId, ...reply })
      }
    },
    interrupted: ({ turnId }) => void interrupted.push(turnId)
  })
  return { sessionId, turns, interrupted }
})

const URL_ANSWER: AgentReply = { _tag: "Say", text: "by URL" }
const byUrl = Stream.succeed(URL_ANSWER)
const ask = ({ sessions }: Server, callId: string, tenantId = TENANT) =>
  Stream.runCollect(sessions.ask(tenantId, message(callId), byUrl))
const texts = (replies: ReadonlyArray<AgentReply>) =>
  replies.map((reply) =>
    reply._tag === "Say"
      ? reply.text
      : reply._tag === "HangUp"
        ? "(hangs up)"
        : reply._tag === "Press"
          ? `(presses ${reply.digits})`
          : `(waits ${reply.seconds} s)`
  )
const settle = TestClock.adjust("10 millis")

const scenario = (
  name: string,
  test: (servers: readonly [Server, Server]) => Effect.Effect<void, unknown, Scope.Scope | MemoryDatabase>
) =>
  it.effect(name, () =>
    Effect.gen(function* () {
      const servers = [yield* newServer, yield* newServer] as const
      yield* test(servers)
      for (const { stop } of servers) yield* stop
    }).pipe(Effect.scoped, Effect.provide(MemoryDatabase.layer))
  )

describe("a voice session", () => {
  scenario("answers the calls of its tenant on every server, piece by piece, and the URL only without one", ([a, b]) =>
    Effect.gen(function* () {
      assert.deepStrictEqual(texts(yield* ask(a, "c1")), ["by URL"])
      const agent = yield* newAgent(b, "s1", () => [
        { text: "One.", more: true },
        { digits: "1#", silenceSeconds: 5, more: true },
        { text: "Two.", digits: "2", hangup: true }
      ])
      for (const server of [a, b]) {
        const answered = yield* Effect.forkChild(ask(server, "c1"))
        yield* settle
        assert.deepStrictEqual(texts(yield* Fiber.join(answered)), [
          "One.",
          "(presses 1#)",
          "(waits 5 s)",
          "Two.",
          "(presses 2)",
          "(hangs up)"
        ])
      }
      assert.deepInclude(agent.turns[0], { callId: "c1", direction: "inbound", from: "+12025550150" })
      assert.deepStrictEqual(agent.interrupted, [])
      assert.deepStrictEqual(texts(yield* ask(a, "c2", OTHER)), ["by URL"], "not those of another tenant")
      yield* b.sessions.disconnect(["s1"])
      assert.deepStrictEqual(texts(yield* ask(a, "c1")), ["by URL"])
    })
  )

  scenario("keeps the calls that are assigned to it, and shares new ones with others", ([a, b]) =>
    Effect.gen(function* () {
      const answer = () => [{ text: "Yes." }]
      const agents = [yield* newAgent(a, "s1", answer), yield* newAgent(b, "s2", answer)]
      for (const n of [...Array.range(1, 20), ...Array.range(1, 20), ...Array.range(1, 20)]) {
        const answered = yield* Effect.forkChild(ask(a, `c${n}`))
        yield* settle
        yield* Fiber.join(answered)
      }
      const calls = agents.map(({ turns }) => new Set(turns.map(({ callId }) => callId)))
      assert.isAbove(calls[0]!.size, 0)
      assert.isAbove(calls[1]!.size, 0)
      assert.strictEqual(calls[0]!.size + calls[1]!.size, 20, "no call has two agents")
    })
  )

  scenario("that closes during a turn is replaced by the next one, and then by the URL", ([a, b]) =>
    Effect.gen(function* () {
      const one = yield* newAgent(b, "s1", () => [{ text: "Let me", more: true }])
      const answered = yield* Effect.forkChild(ask(a, "c1"))
      yield* settle
      const two = yield* newAgent(a, "s2")
      yield* b.sessions.disconnect(["s1"])
      yield* settle
      assert.lengthOf(one.turns, 1)
      assert.lengthOf(two.turns, 1)
      assert.notStrictEqual(one.turns[0]!.turnId, two.turns[0]!.turnId)
      yield* a.sessions.disconnect(["s2"])
      yield* settle
      assert.deepStrictEqual(texts(yield* Fiber.join(answered)), ["Let me", "by URL"])
    })
  )

  scenario("receives the calls of the numbers that it names before one for all numbers, on every server", ([a, b]) =>
    Effect.gen(function* () {
      const { phoneNumberId } = message("c1")
      const other = yield* newAgent(a, "s1", undefined, { phoneNumberIds: ["another number"] })
      assert.deepStrictEqual(texts(yield* ask(b, "c1")), ["by URL"])
      const named = yield* newAgent(b, "s2", () => [{ text: "Mine." }], {
        phoneNumberIds: ["another number", phoneNumberId]
      })
      const all = yield* newAgent(b, "s3", () => [{ text: "Any." }])
      const answerTo = Effect.fnUntraced(function* (call: number) {
        const answered = yield* Effect.forkChild(ask(a, `c${call}`))
        yield* settle
        return texts(yield* Fiber.join(answered)).join()
      })
      for (const call of Array.range(2, 12)) assert.strictEqual(yield* answerTo(call), "Mine.")
      yield* b.sessions.disconnect(["s2"])
      assert.strictEqual(yield* answerTo(13), "Any.")
      assert.deepStrictEqual([other.turns.length, named.turns.length, all.turns.length], [0, 11, 1])
    })
  )

  scenario("that declines a turn is replaced at once, and by the URL if all do", ([a, b]) =>
    Effect.gen(function* () {
      const decline = () => [{ decline: true }]
      const declining = yield* Effect.forEach(["s1", "s2", "s3"], (id) => newAgent(b, id, decline))
      const answered = yield* Effect.forkChild(ask(a, "c1"))
      yield* settle
      assert.deepStrictEqual(texts(yield* Fiber.join(answered)), ["by URL"])
      for (const { turns } of declining) assert.lengthOf(turns, 1)
      const { turns } = yield* newAgent(a, "s4", () => [{ text: "Here." }])
      const next = yield* Effect.forkChild(ask(a, "c2"))
      yield* settle
      assert.deepStrictEqual(texts(yield* Fiber.join(next)), ["Here."])
      assert.lengthOf(turns, 1)
    })
  )

  scenario("on a server that died is replaced after a second, and forgotten after its lease", ([a]) =>
    Effect.gen(function* () {
      const { agentSessions } = yield* MemoryDatabase
      const dead = { sessionId: "s1", tenantId: TENANT, serverId: "dead", phoneNumberIds: null }
      agentSessions.set("s1", { session: dead, expiresAt: Timestamp.Timestamp.make(30_000) })
      const agent = yield* newAgent(a, "s2", () => [{ text: "Still here." }])
      const asked = yield* Effect.forEach(Array.range(1, 20), (n) => Effect.forkChild(ask(a, `c${n}`)))
      yield* settle
      assert.isBelow(agent.turns.length, 20, "some calls were assigned to the dead one first")
      yield* TestClock.adjust("1 second")
      for (const answered of asked) assert.deepStrictEqual(texts(yield* Fiber.join(answered)), ["Still here."])
      yield* a.sessions.disconnect(["s2"])
      yield* TestClock.adjust("30 seconds")
      assert.deepStrictEqual(texts(yield* ask(a, "c99")), ["by URL"])
      assert.strictEqual(agentSessions.size, 0)
    })
  )

  scenario("on a server that dies during its answer is replaced within 3 s", ([a, b]) =>
    Effect.gen(function* () {
      const { servers } = yield* MemoryDatabase
      const [, dying] = [...servers.keys()]
      yield* newAgent(b, "s1", () => [{ text: "Let me", more: true }])
      const answered = yield* Effect.forkChild(ask(a, "c1"))
      yield* settle
      const next = yield* newAgent(a, "s2", () => [{ text: " see." }])
      // Its server still runs, and confirms the turn every 2 s.
      yield* TestClock.adjust("7 seconds")
      assert.lengthOf(next.turns, 0)
      servers.delete(dying!)
      yield* TestClock.adjust("3 seconds")
      assert.deepStrictEqual(texts(yield* Fiber.join(answered)), ["Let me", " see."])
    })
  )

  scenario("must begin to answer within 5 s, finish within 30 s, and send at most 64 KiB", ([a, b]) =>
    Effect.gen(function* () {
      const failureAfter = Effect.fnUntraced(function* (answer: Parameters<typeof newAgent>[2], seconds: number) {
        const agent = yield* newAgent(b, "s1", answer)
        const answered = yield* Effect.forkChild(Effect.flip(ask(a, "c1")))
        yield* settle
        yield* TestClock.adjust(`${seconds} seconds`)
        const error = yield* Fiber.join(answered)
        assert.instanceOf(error, AgentUnreachable)
        yield* settle
        assert.deepStrictEqual(agent.interrupted, [agent.turns[0]!.turnId], "and learns that the turn is over")
        yield* b.sessions.disconnect(["s1"])
        return error.reason
      })
      assert.strictEqual(yield* failureAfter(() => [], 5), "timeout")
      assert.strictEqual(yield* failureAfter(() => [{ text: "Well,", more: true }], 30), "timeout")
      const long = Array.makeBy(17, () => ({ text: "x".repeat(4_000), more: true }))
      assert.strictEqual(yield* failureAfter(() => long, 0), "answer")
    })
  )

  scenario("can't answer a turn late, twice, of another call or of another session", ([a, b]) =>
    Effect.gen(function* () {
      const agent = yield* newAgent(a, "s1")
      yield* newAgent(a, "s2", undefined, { tenantId: OTHER })
      const answered = yield* Effect.forkChild(ask(b, "c1"))
      yield* settle
      const { turnId } = agent.turns[0]!
      const isRefused = (sessionId: string, reply: TurnReply) => a.sessions.reply(sessionId, reply) !== undefined
      assert.isTrue(isRefused("s2", { callId: "c1", turnId, text: "Mine!" }))
      assert.isTrue(isRefused("s1", { callId: "c2", turnId, text: "Which?" }))
      assert.isFalse(isRefused("s1", { callId: "c1", turnId, text: "Yes." }))
      assert.isTrue(isRefused("s1", { callId: "c1", turnId, text: "And" }))
      yield* settle
      assert.deepStrictEqual(texts(yield* Fiber.join(answered)), ["Yes."])
    })
  )

  scenario("learns that the caller spoke over its answer, once, before and after the answer is complete", ([a, b]) =>
    Effect.gen(function* () {
      const agent = yield* newAgent(b, "s1", ({ callId }) => (callId === "done" ? [{ text: "Yes." }] : []))
      const open = yield* Effect.forkChild(ask(a, "open"))
      yield* settle
      yield* Fiber.interrupt(open)
      yield* a.sessions.interrupted("open")
      yield* settle
      assert.deepStrictEqual(agent.interrupted, [agent.turns[0]!.turnId])
      const done = yield* Effect.forkChild(ask(a, "done"))
      yield* settle
      yield* Fiber.join(done)
      yield* a.sessions.interrupted("done")
      yield* a.sessions.interrupted("done")
      yield* settle
      assert.deepStrictEqual(agent.interrupted, [agent.turns[0]!.turnId, agent.turns[1]!.turnId])
      yield* a.sessions.forget("done")
      yield* a.sessions.interrupted("done")
    })
  )

  scenario("has a bounded number of open turns, also if the server that asked is gone", ([a, b]) =>
    Effect.gen(function* () {
      const agent = yield* newAgent(a, "s1")
      yield* Effect.forEach(Array.range(1, TURNS_IN_FLIGHT_MAX), (n) => Effect.forkChild(ask(b, `c${n}`)))
      yield* settle
      assert.lengthOf(agent.turns, TURNS_IN_FLIGHT_MAX)
      const oneMore = yield* Effect.forkChild(Effect.flip(ask(b, "more")))
      yield* settle
      const error = yield* Fiber.join(oneMore)
      assert.instanceOf(error, AgentUnreachable)
      assert.include(error.message, "64 open turns")
      assert.lengthOf(agent.turns, TURNS_IN_FLIGHT_MAX)
    })
  )
})
