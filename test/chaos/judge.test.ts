import { describe, expect, it } from "vitest"
import { type RuleName, RULES, judge } from "./Judge.ts"
import { LEASE_MILLIS, Story } from "./Story.ts"

const [T, STRANGER] = ["tenant", "another tenant"]
const [A, B] = ["session a", "session b"]
/** Events, in the order of their ids. */
const [E1, E2, E3] = ["event 1", "event 2", "event 3"]

/** A tenant with two sessions. */
const story = (): Story => new Story().open(T, A, B)

/** What is found in a history, by rule. */
const found = (told: Story): ReadonlyArray<RuleName> => [...new Set(judge(told.history).map(({ rule }) => rule))]

/** The rest of a story in which everything else goes well: what is open is acknowledged by whom it came to last. */
const finish = (told: Story): Story => {
  for (const { eventId, status } of told.history.rows) {
    if (status !== "acknowledged") told.acknowledge(T, eventId)
  }
  return told
}

describe("the judge has nothing to say", () => {
  it("of events that come in order and are acknowledged, by name, without one, or with no answer", () => {
    const told = story().store(T, E1, E2, E3)
    const delivery = told.deliver(A, E1)
    told.deliver(B, E2, E3)
    told.acknowledge(T, E1, delivery).acknowledge(T, E2)
    told.send(T, E3)
    expect(judge(told.end(E3).history)).toEqual([])
  })

  it("of an event that comes again when its session is gone, after those that came meanwhile", () => {
    const told = story().store(T, E1, E2)
    const lost = told.deliver(A, E1)
    told.deliver(B, E2)
    told.close(A).release(E1)
    told.deliver(B, E1)
    told.answer(told.send(T, E1, lost), "stale")
    expect(judge(finish(told).history)).toEqual([])
  })

  it("of a server that stood still for longer than its lease, and then sends what it had", () => {
    const told = story().store(T, E1)
    const [late] = told.lease(A, E1)
    told.pass(LEASE_MILLIS)
    const delivery = told.deliver(B, E1)
    told.arrive(A, E1, late!, { deliveryCount: 1 })
    told.answer(told.send(T, E1, late), "stale")
    told.acknowledge(T, E1, delivery)
    told.answer(told.send(T, E1, late), "acknowledged")
    expect(judge(told.history)).toEqual([])
  })

  it("of a lease that is renewed in time, and of what its session does after the first one", () => {
    const told = story().store(T, E1)
    const delivery = told.deliver(A, E1)
    told.pass(LEASE_MILLIS - 100).renew(E1)
    told.pass(LEASE_MILLIS - 100)
    expect(judge(told.acknowledge(T, E1, delivery).history)).toEqual([])
  })

  it("of an event that was overtaken while a server that was killed had it in its hands", () => {
    const told = story().store(T, E1, E2)
    told.undone.push({ from: told.now, to: told.now + 1 })
    told.deliver(A, E2)
    told.deliver(A, E1)
    expect(judge(finish(told).history)).toEqual([])
  })

  it("of a stranger's acknowledgement that is refused", () => {
    const told = story().store(T, E1)
    told.deliver(A, E1)
    told.answer(told.send(STRANGER, E1), "missing")
    expect(judge(finish(told).history)).toEqual([])
  })
})

/** Stories in which one thing goes wrong. */
const WRONG: ReadonlyArray<readonly [what: string, RuleName, () => Story]> = [
  [
    "an event that never comes",
    "every event is acknowledged by its owner",
    () => story().store(T, E1).acknowledge(T, E1)
  ],
  [
    "an event that is not acknowledged",
    "every event is acknowledged by its owner",
    () => {
      const told = story().store(T, E1)
      told.deliver(A, E1)
      return told
    }
  ],
  [
    "an event of another tenant",
    "no tenant sees another's",
    () => {
      const told = story().open(STRANGER, "theirs").store(T, E1)
      const delivery = told.deliver(A, E1)
      return finish(told.arrive("theirs", E1, delivery))
    }
  ],
  [
    "an event that nobody stored",
    "no tenant sees another's",
    () => story().arrive(A, "an event from nowhere", "a delivery")
  ],
  [
    "an event that comes with another content",
    "no tenant sees another's",
    () => {
      const told = story().store(T, E1)
      return finish(told.arrive(A, E1, told.lease(A, E1)[0]!, { mark: "another" }))
    }
  ],
  [
    "a stranger who is told that it acknowledged",
    "no tenant sees another's",
    () => {
      const told = story().store(T, E1)
      told.deliver(A, E1)
      finish(told)
      return told.answer(told.send(STRANGER, E1), "acknowledged")
    }
  ],
  [
    "an owner who is told that there is no such event",
    "no tenant sees another's",
    () => {
      const told = story().store(T, E1)
      told.deliver(A, E1)
      return finish(told.answer(told.send(T, E1), "missing"))
    }
  ],
  [
    "a delivery that was never leased",
    "what is delivered is leased",
    () => {
      const told = story().store(T, E1)
      told.deliver(A, E1)
      return finish(told.arrive(A, E1, "made up"))
    }
  ],
  [
    "a delivery that was another session's",
    "what is delivered is leased",
    () => {
      const told = story().store(T, E1)
      return finish(told.arrive(B, E1, told.lease(A, E1)[0]!))
    }
  ],
  [
    "a delivery that comes twice",
    "what is delivered is leased",
    () => {
      const told = story().store(T, E1)
      return finish(told.arrive(A, E1, told.deliver(A, E1)))
    }
  ],
  [
    "a delivery with another number",
    "deliveries are counted",
    () => {
      const told = story().store(T, E1)
      return finish(told.arrive(A, E1, told.lease(A, E1)[0]!, { deliveryCount: 2 }))
    }
  ],
  [
    "a session with more than its window",
    "64 deliveries at most are in flight",
    () => {
      const many = Array.from({ length: 65 }, (_, index) => `event ${100 + index}`)
      const told = story().store(T, ...many)
      told.deliver(A, ...many)
      return finish(told)
    }
  ],
  [
    "a lease that is taken away while it is live",
    "no event is held by two",
    () => {
      const told = story().store(T, E1)
      told.lease(A, E1)
      told.deliver(B, E1)
      return finish(told)
    }
  ],
  [
    "two clients that have an event, whatever the database says",
    "no event is held by two",
    () => {
      const told = story().store(T, E1)
      told.deliver(A, E1)
      return finish(told.arrive(B, E1, "made up"))
    }
  ],
  [
    "a lease that is renewed after it has run out",
    "no event is held by two",
    () => {
      const told = story().store(T, E1)
      told.deliver(A, E1)
      return finish(told.pass(LEASE_MILLIS).renew(E1))
    }
  ],
  [
    "a lease that is cut short",
    "no event is held by two",
    () => {
      const told = story().store(T, E1)
      told.deliver(A, E1)
      return finish(told.change(E1, { leasedUntil: told.now }))
    }
  ],
  [
    "a lease that is given back under a session that goes on",
    "what is given back was given up",
    () => {
      const told = story().store(T, E1)
      told.deliver(A, E1)
      told.release(E1)
      told.deliver(B, E1)
      return finish(told)
    }
  ],
  [
    "an event that could have come before a younger one",
    "a session gets events in order",
    () => {
      const told = story().store(T, E1, E2)
      told.deliver(A, E2)
      told.deliver(A, E1)
      return finish(told)
    }
  ],
  [
    "an event that was given to another only after a younger one had come",
    "a session gets events in order",
    () => {
      const told = story().store(T, E1, E2)
      told.deliver(A, E2)
      told.deliver(B, E1)
      told.close(B).release(E1)
      told.deliver(A, E1)
      return finish(told)
    }
  ],
  [
    "events of one statement that come in another order",
    "a session gets events in order",
    () => {
      const told = story().store(T, E1, E2)
      const [first, second] = told.lease(A, E1, E2)
      told.undone.push({ from: 0, to: told.now })
      return finish(told.arrive(A, E2, second!).arrive(A, E1, first!))
    }
  ],
  [
    "an event that is overtaken long after a server was killed",
    "a session gets events in order",
    () => {
      const told = story().store(T, E1, E2)
      told.undone.push({ from: told.now, to: told.now + 1 })
      told.pass(60_000)
      told.deliver(A, E2)
      told.deliver(A, E1)
      return finish(told)
    }
  ],
  [
    "an event that is stored after another and stands before it",
    "the order is that of commits",
    () => {
      const told = story().store(T, E2).store(T, E1)
      told.deliver(A, E1, E2)
      return finish(told)
    }
  ],
  [
    "events of one call that are not in the order given",
    "the order is that of commits",
    () => {
      const told = story().store(T, E2, E1)
      told.deliver(A, E1, E2)
      return finish(told)
    }
  ],
  [
    "an event that was created before an earlier one",
    "the order is that of commits",
    () => {
      const told = story().store(T, E2)
      told.appends.push({
        askedAt: 0,
        storedAt: told.now,
        events: [{ tenantId: T, eventId: E1, createdAt: told.now, mark: E1 }]
      })
      return told
    }
  ],
  [
    "an event that ends without anybody's doing",
    "what is acknowledged was acknowledged",
    () => {
      const told = story().store(T, E1)
      told.deliver(A, E1)
      told.end(E1)
      told.send(T, E1)
      return told
    }
  ],
  [
    "an event that a stranger ended",
    "what is acknowledged was acknowledged",
    () => {
      const told = story().store(T, E1)
      told.deliver(A, E1)
      told.send(STRANGER, E1)
      return told.end(E1)
    }
  ],
  [
    "an event that ended by a delivery that had been lost",
    "what is acknowledged was acknowledged",
    () => {
      const told = story().store(T, E1)
      const lost = told.deliver(A, E1)
      told.close(A).release(E1)
      told.deliver(B, E1)
      return told.acknowledge(T, E1, lost)
    }
  ],
  [
    "an event that ended by a delivery whose lease had run out",
    "what is acknowledged was acknowledged",
    () => {
      const told = story().store(T, E1)
      const late = told.deliver(A, E1)
      return told.pass(LEASE_MILLIS).acknowledge(T, E1, late)
    }
  ],
  [
    "a stale acknowledgement that ended the event",
    "what is acknowledged was acknowledged",
    () => {
      const told = story().store(T, E1)
      const stale = told.send(T, E1, told.deliver(A, E1))
      return told.end(E1).answer(stale, "stale")
    }
  ],
  [
    "an event that is said to be acknowledged before it is",
    "what is acknowledged was acknowledged",
    () => {
      const told = story().store(T, E1)
      told.deliver(A, E1)
      told.answer(told.send(T, E1), "acknowledged")
      return finish(told)
    }
  ],
  [
    "an acknowledgement that is never answered over a socket that stays open",
    "what is acknowledged was acknowledged",
    () => {
      const told = story().store(T, E1)
      const delivery = told.deliver(A, E1)
      told.send(T, E1, delivery, A)
      return finish(told)
    }
  ],
  [
    "a live delivery that is called stale",
    "a stale acknowledgement was stale",
    () => {
      const told = story().store(T, E1)
      const delivery = told.deliver(A, E1)
      return finish(told.answer(told.send(T, E1, delivery), "stale"))
    }
  ],
  [
    "a stale acknowledgement that named no delivery",
    "a stale acknowledgement was stale",
    () => {
      const told = story().store(T, E1)
      told.deliver(A, E1)
      return finish(told.answer(told.send(T, E1), "stale"))
    }
  ],
  [
    "an event that is delivered after it was acknowledged",
    "what is acknowledged stays so",
    () => {
      const told = story().store(T, E1)
      told.deliver(A, E1)
      told.acknowledge(T, E1)
      told.deliver(B, E1)
      return told
    }
  ]
]

describe("the judge notices", () => {
  it.each(WRONG)("%s", (_what, rule, tell) => {
    expect(found(tell())).toContain(rule)
  })

  it("each promise that there is", () => {
    expect(Object.keys(RULES).filter((rule) => !WRONG.some(([, broken]) => broken === rule))).toEqual([])
  })
})
