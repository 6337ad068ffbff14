import { type Incident, IncidentStore, Timestamp, Transactor, Uuid } from "@agentos/core"
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { AWKWARD_TEXTS } from "../AwkwardText.ts"
import { defineContract } from "../Contract.ts"
import * as Fresh from "../Fresh.ts"

const AT = Timestamp.fromMillis(1_800_000_000_000)

const incidentOf = (changes: Partial<Incident> = {}) =>
  Effect.map(Effect.all([Uuid.next, Fresh.word]), ([incidentId, subject]): Incident => ({
    kind: "job_late",
    subject,
    summary: "It is late.",
    action: "Run it.",
    incidentId,
    openedAt: AT,
    seenAt: AT,
    resolvedAt: null,
    informed: [],
    attempts: 0,
    attemptAt: AT,
    ...changes
  }))

const listed = (...incidents: ReadonlyArray<Incident>) =>
  Effect.map(
    Effect.flatMap(IncidentStore, ({ list }) => list),
    (all) => all.filter(({ incidentId }) => incidents.some((incident) => incident.incidentId === incidentId))
  )

/** The contract tests of `IncidentStore`. */
export const IncidentStoreContract = defineContract<IncidentStore>("IncidentStore", (it) => {
  it.effect("lists incidents, oldest first, with every field", () =>
    Effect.gen(function* () {
      const { put } = yield* IncidentStore
      const later = yield* incidentOf({
        openedAt: Timestamp.add(AT, 1),
        resolvedAt: AT,
        informed: ["webhook", "mail"],
        attempts: 3,
        attemptAt: null
      })
      const earlier = yield* incidentOf({ kind: "refund_due" })
      yield* Effect.forEach([later, earlier], put)
      assert.deepStrictEqual(yield* listed(later, earlier), [earlier, later])
    })
  )

  it.effect("has one incident for each kind and subject, with any text", () =>
    Effect.gen(function* () {
      const { put } = yield* IncidentStore
      const incident = yield* incidentOf()
      const other: Incident = { ...(yield* incidentOf({ kind: "wallet_low" })), subject: incident.subject }
      yield* Effect.forEach([incident, other], put)
      for (const text of AWKWARD_TEXTS) {
        const changed: Incident = { ...incident, summary: text, action: text, seenAt: Timestamp.add(AT, 5) }
        yield* put(changed)
        assert.sameDeepMembers([...(yield* listed(incident, other))], [changed, other])
      }
    })
  )

  it.effect("removes the incident of a kind and subject, and undoes that with its transaction", () =>
    Effect.gen(function* () {
      const { put, remove } = yield* IncidentStore
      const { transact } = yield* Transactor
      const incident = yield* incidentOf()
      yield* put(incident)
      yield* Effect.flip(transact(Effect.andThen(remove(incident), Effect.fail("rolled back"))))
      yield* remove({ kind: "wallet_low", subject: incident.subject })
      assert.deepStrictEqual(yield* listed(incident), [incident])
      yield* Effect.replicateEffect(remove(incident), 2)
      assert.deepStrictEqual(yield* listed(incident), [])
    })
  )
})
