import { type AgentSession, AgentSessionStore, SESSION_LEASE } from "@agentos/core"
import { assert } from "@effect/vitest"
import { Array, Effect } from "effect"
import { AWKWARD_TEXTS } from "../AwkwardText.ts"
import { defineContract } from "../Contract.ts"
import * as Fresh from "../Fresh.ts"
import { StoreClock } from "../StoreClock.ts"

const session = Effect.fnUntraced(function* (
  tenantId: string,
  phoneNumberIds: ReadonlyArray<string> | null = null
): Effect.fn.Return<AgentSession, never, AgentSessionStore> {
  const { serverId } = yield* AgentSessionStore
  return { sessionId: yield* Fresh.id, tenantId, serverId, phoneNumberIds }
})

/** Waits until `isDone`, for messages that another fiber passes on. */
const until = (isDone: () => boolean) =>
  Effect.promise(async () => {
    for (let tries = 0; tries < 500 && !isDone(); tries++) await new Promise((resolve) => setTimeout(resolve, 10))
  })

/** The contract tests of `AgentSessionStore`. */
export const AgentSessionStoreContract = defineContract<AgentSessionStore>("AgentSessionStore", (it) => {
  it.effect("lists the sessions of a tenant until they are removed", () =>
    Effect.gen(function* () {
      const store = yield* AgentSessionStore
      const [tenant, other] = [yield* Fresh.tenant, yield* Fresh.tenant]
      const [one, two, foreign] = [
        yield* session(tenant.tenantId, [yield* Fresh.id, yield* Fresh.id]),
        yield* session(tenant.tenantId),
        yield* session(other.tenantId)
      ]
      yield* store.keep([one, foreign])
      yield* store.keep([two])
      yield* store.keep([])
      const both = [one, two].toSorted((a, b) => (a.sessionId < b.sessionId ? -1 : 1))
      assert.deepStrictEqual(yield* store.list(tenant.tenantId), both)
      yield* store.remove([one.sessionId, one.sessionId, yield* Fresh.id])
      assert.deepStrictEqual(yield* store.list(tenant.tenantId), [two])
      assert.deepStrictEqual(yield* store.list(other.tenantId), [foreign])
      yield* store.remove([two.sessionId, foreign.sessionId])
    })
  )

  it.effect("forgets a session that is not renewed within its lease", () =>
    Effect.gen(function* () {
      const store = yield* AgentSessionStore
      const clock = yield* StoreClock
      const { tenantId } = yield* Fresh.tenant
      const [kept, lost] = [yield* session(tenantId), yield* session(tenantId)]
      yield* store.keep([kept, lost])
      yield* clock.advance(SESSION_LEASE - 1_000)
      yield* store.keep([kept])
      yield* clock.advance(2_000)
      assert.deepStrictEqual(yield* store.list(tenantId), [kept])
      yield* store.remove([kept.sessionId])
    })
  )

  it.effect("passes messages to the server that listens, once each and in order", () =>
    Effect.gen(function* () {
      const store = yield* AgentSessionStore
      const received: Array<string> = []
      yield* store.listen((body) => void received.push(body))
      const to = store.serverId
      const bodies = [...Array.range(1, 50).map(String), ...AWKWARD_TEXTS, "x".repeat(100_000)]
      yield* store.send([{ to: yield* Fresh.id, body: "for another server" }])
      yield* store.send(bodies.slice(0, 20).map((body) => ({ to, body })))
      for (const body of bodies.slice(20)) yield* store.send([{ to, body }])
      yield* until(() => received.length >= bodies.length)
      assert.deepStrictEqual(received, bodies)
    })
  )
})
