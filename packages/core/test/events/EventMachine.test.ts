import { DEFAULT_EVENT_POLICY, EventMachine, EventStatus } from "@agentos/core"
import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"

const { deliverability, lapsesAfterRelease, move } = EventMachine
const policy = DEFAULT_EVENT_POLICY
const MOVES = ["Lease", "Acknowledge", "Expire", "Fail"] as const
const day = 86_400_000

const fresh = { status: "pending", createdAt: 0, expiresAt: policy.retention, leasedUntil: null, lapses: 0 } as const

describe("EventMachine", () => {
  it("allows these moves and no others", () => {
    const allowed = EventStatus.literals.flatMap((status) =>
      MOVES.flatMap((by) => {
        const to = move(status, by)
        return to === undefined ? [] : [`${status} ${by} ${to}`]
      })
    )
    assert.deepStrictEqual(allowed, [
      "pending Lease delivered",
      "pending Acknowledge acknowledged",
      "pending Expire expired",
      "delivered Lease delivered",
      "delivered Acknowledge acknowledged",
      "delivered Expire expired",
      "delivered Fail failed",
      "acknowledged Acknowledge acknowledged",
      "failed Acknowledge acknowledged"
    ])
  })

  it.prop(
    "stays acknowledged or expired forever",
    [Schema.Array(Schema.Literals(MOVES)), Schema.Literals(["acknowledged", "expired"])],
    ([moves, end]) => {
      let status: EventStatus = end
      for (const by of moves) status = move(status, by) ?? status
      assert.strictEqual(status, end)
    }
  )

  it("delivers an event that is not leased, expired, failed or finished", () => {
    const delivered = { ...fresh, status: "delivered" } as const
    assert.strictEqual(deliverability(fresh, 0, policy), "deliverable")
    assert.strictEqual(deliverability({ ...delivered, leasedUntil: 10 }, 9, policy), "leased")
    assert.strictEqual(deliverability({ ...delivered, leasedUntil: 10 }, 10, policy), "deliverable")
    assert.strictEqual(deliverability(fresh, policy.retention - 1, policy), "deliverable")
    assert.strictEqual(deliverability(fresh, policy.retention, policy), "expired")
    for (const status of ["acknowledged", "expired", "failed"] as const) {
      assert.strictEqual(deliverability({ ...fresh, status }, 0, policy), "finished")
    }
  })

  it("fails after the last allowed lapse, and never within the first day", () => {
    const lapsed = { ...fresh, status: "delivered", lapses: policy.maxLapses - 1, leasedUntil: 5 } as const
    assert.strictEqual(deliverability(lapsed, day, policy), "failed")
    assert.strictEqual(deliverability(lapsed, day - 1, policy), "deliverable")
    assert.strictEqual(deliverability({ ...lapsed, leasedUntil: null }, day, policy), "deliverable")
  })

  it.prop(
    "fails an event of sufficient age by its unacknowledged deliveries alone, whatever else happened to it",
    [Schema.Array(Schema.Literals(["session ended", "lease expired", "server stopped", "retried"]))],
    ([ends]) => {
      const age = policy.minFailAge
      let lapses = policy.maxLapses - 4
      for (const end of ends) {
        const leasedUntil = end === "lease expired" ? age : age + 1
        const reason = end === "session ended" ? "unacknowledged" : "withdrawn"
        lapses = lapsesAfterRelease({ lapses, leasedUntil }, reason, age)
        lapses = lapsesAfterRelease({ lapses, leasedUntil: null }, reason, age)
      }
      const counted = ends.filter((end) => end === "session ended" || end === "lease expired").length
      const facts = { ...fresh, status: "delivered", lapses } as const
      assert.strictEqual(lapses, policy.maxLapses - 4 + counted)
      assert.strictEqual(deliverability(facts, age, policy), counted >= 4 ? "failed" : "deliverable")
      assert.strictEqual(deliverability(facts, age - 1, policy), "deliverable")
    }
  )
})
