import { type Delivery, type DurableEvent, RealtimeSession, Timestamp } from "@agentos/core"
import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"

const { acknowledged, drained, leased, MAX_IN_FLIGHT, opened, renewed, room } = RealtimeSession

const delivery = (id: string): Delivery => ({
  deliveryId: `delivery of ${id}`,
  event: { eventId: id, createdAt: Timestamp.Timestamp.make(0) } as DurableEvent
})
const deliveries = (count: number, from = 0) => Array.from({ length: count }, (_, i) => delivery(`${from + i}`))

describe("RealtimeSession", () => {
  it("ends the replay with the first lease that returns fewer events than requested", () => {
    const first = leased(opened, deliveries(3), 3)
    assert.strictEqual(first.session.phase, "replaying")
    assert.isUndefined(first.replayComplete)
    const second = leased(first.session, deliveries(2, 3), 10)
    assert.strictEqual(second.replayComplete, 5)
    assert.isUndefined(leased(second.session, [], 10).replayComplete)
  })

  it("ends the replay of an empty inbox immediately, and of a full window when nothing is left", () => {
    assert.strictEqual(leased(opened, [], MAX_IN_FLIGHT).replayComplete, 0)
    const full = leased(opened, deliveries(MAX_IN_FLIGHT), MAX_IN_FLIGHT).session
    assert.deepStrictEqual([full.phase, room(full), drained(full).replayComplete], ["replaying", 0, MAX_IN_FLIGHT])
  })

  it("makes room for deliveries only after others were acknowledged or lost", () => {
    const { session } = leased(opened, deliveries(3), 3)
    const acks = [{ eventId: "0" }, { eventId: "1", deliveryId: "delivery of 1" }, { eventId: "2" }, { eventId: "x" }]
    const next = acknowledged(session, acks, ["acknowledged", "lease_lost", "missing", "missing"])
    assert.deepStrictEqual([...next.inFlight.keys()], ["2"])
  })

  it("keeps an event whose older delivery is acknowledged too late", () => {
    const again = leased(opened, [{ ...delivery("0"), deliveryId: "newer" }], 1).session
    const next = acknowledged(again, [{ eventId: "0", deliveryId: "older" }], ["lease_lost"])
    assert.strictEqual(next.inFlight.get("0"), "newer")
  })

  it("removes deliveries whose lease the store no longer has", () => {
    const { session } = leased(opened, deliveries(3), 3)
    assert.deepStrictEqual([...renewed(session, session.inFlight, new Set(["1", "9"])).inFlight.keys()], ["1"])
  })

  it("keeps deliveries that arrived during a renewal", () => {
    const before = leased(opened, deliveries(2), 2).session
    const again = leased(before, [{ ...delivery("0"), deliveryId: "newer" }, delivery("2")], 2).session
    const after = renewed(again, before.inFlight, new Set<string>())
    assert.deepStrictEqual([...after.inFlight.keys()], ["0", "2"])
  })

  it.prop(
    "never holds more deliveries than the window",
    [Schema.Array(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 200 })))],
    ([available]) => {
      let session = opened
      let next = 0
      for (const count of available) {
        const asked = room(session)
        const got = deliveries(Math.min(count, asked), next)
        next += got.length
        session = leased(session, got, asked).session
        assert.isAtMost(session.inFlight.size, MAX_IN_FLIGHT)
        const [oldest] = session.inFlight.keys()
        if (oldest !== undefined) session = acknowledged(session, [{ eventId: oldest }], ["acknowledged"])
      }
    }
  )
})
