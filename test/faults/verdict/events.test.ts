import { describe, expect, it } from "vitest"
import { EVENT_INVARIANTS, judgeEvents } from "./EventInvariants.ts"
import { EventStory, LEASE_MILLIS } from "./EventStory.ts"

const [T, STRANGER] = ["tenant", "another tenant"]
const [A, B] = ["session a", "session b"]
/** In the order of their ids. */
const [E1, E2, E3] = ["event 1", "event 2", "event 3"]

type Tell = (story: EventStory) => unknown

/** A history with two sessions of one tenant, and everything acknowledged in the end unless `isOpen`. */
const violated = (tell: Tell, isOpen = false): ReadonlyArray<string> => {
  const story = new EventStory().open(T, A, B)
  tell(story)
  if (!isOpen) story.finish()
  return [...new Set(judgeEvents(story.history).map(({ invariant }) => invariant))]
}

const loseAndDeliverAgain = (story: EventStory): string => {
  const lost = story.store(T, E1).deliver(A, E1)
  story.close(A).release(E1)
  story.deliver(B, E1)
  return lost
}

const ALLOWED: ReadonlyArray<readonly [string, Tell]> = [
  [
    "events that are acknowledged with a delivery id, without one, and without an answer",
    (s) => {
      const delivery = s.store(T, E1, E2, E3).deliver(A, E1)
      s.deliver(B, E2, E3)
      s.acknowledge(T, E1, delivery).acknowledge(T, E2)
      s.send(T, E3)
      s.end(E3)
    }
  ],
  [
    "an event that follows younger ones because its first session closed, and a stale acknowledgement",
    (s) => {
      const lost = s.store(T, E1, E2).deliver(A, E1)
      s.deliver(B, E2)
      s.close(A).release(E1)
      s.deliver(B, E1)
      s.answer(s.send(T, E1, lost), "stale")
    }
  ],
  [
    "a delivery that a paused server sends after its lease",
    (s) => {
      const [late] = s.store(T, E1).lease(A, E1)
      const delivery = s.pass(LEASE_MILLIS).deliver(B, E1)
      s.arrive(A, E1, late!, { deliveryCount: 1 })
      s.answer(s.send(T, E1, late), "stale").acknowledge(T, E1, delivery)
      s.answer(s.send(T, E1, late), "acknowledged")
    }
  ],
  [
    "an acknowledgement under a renewed lease",
    (s) => {
      const delivery = s.store(T, E1).deliver(A, E1)
      s.pass(LEASE_MILLIS - 100)
        .renew(E1)
        .pass(LEASE_MILLIS - 100)
        .acknowledge(T, E1, delivery)
    }
  ],
  [
    "an event that is overtaken while the transaction of a killed server locked it",
    (s) => {
      s.store(T, E1, E2).rolledBack.push({ from: s.now, to: s.now + 1 })
      s.deliver(A, E2)
      s.deliver(A, E1)
    }
  ],
  [
    "a refused acknowledgement of another tenant",
    (s) => {
      s.store(T, E1).deliver(A, E1)
      s.answer(s.send(STRANGER, E1), "missing")
    }
  ]
]

/** Stories with one violation. */
const VIOLATIONS: ReadonlyArray<[keyof typeof EVENT_INVARIANTS, string, Tell, isOpen?: boolean]> = [
  ["every event is acknowledged by its tenant", "no delivery", (s) => s.store(T, E1)],
  ["every event is acknowledged by its tenant", "no acknowledgement", (s) => s.store(T, E1).deliver(A, E1), true],
  [
    "tenants are isolated",
    "a delivery to another tenant",
    (s) => s.open(STRANGER, "theirs").store(T, E1).arrive("theirs", E1, s.deliver(A, E1))
  ],
  ["tenants are isolated", "an unknown event", (s) => s.arrive(A, "unknown", "a delivery")],
  ["tenants are isolated", "other content", (s) => s.store(T, E1).arrive(A, E1, s.lease(A, E1)[0]!, { mark: "other" })],
  [
    "tenants are isolated",
    "another tenant that acknowledges",
    (s) => {
      s.store(T, E1).deliver(A, E1)
      s.finish().answer(s.send(STRANGER, E1), "acknowledged")
    }
  ],
  [
    "tenants are isolated",
    "an event that is missing for its owner",
    (s) => {
      s.store(T, E1).deliver(A, E1)
      s.answer(s.send(T, E1), "missing")
    }
  ],
  [
    "every delivery is leased to its session",
    "a delivery without a lease",
    (s) => {
      s.store(T, E1).deliver(A, E1)
      s.arrive(A, E1, "invented")
    }
  ],
  [
    "every delivery is leased to its session",
    "a lease of another session",
    (s) => s.store(T, E1).arrive(B, E1, s.lease(A, E1)[0]!)
  ],
  [
    "every delivery is leased to its session",
    "a delivery that arrives twice",
    (s) => s.store(T, E1).arrive(A, E1, s.deliver(A, E1))
  ],
  [
    "deliveries are counted",
    "another number",
    (s) => s.store(T, E1).arrive(A, E1, s.lease(A, E1)[0]!, { deliveryCount: 2 })
  ],
  [
    "at most 64 deliveries are in flight",
    "65 leases",
    (s) => {
      const many = Array.from({ length: 65 }, (_, index) => `event ${100 + index}`)
      s.store(T, ...many).deliver(A, ...many)
    }
  ],
  [
    "at most one session holds an event",
    "a live lease that is taken",
    (s) => {
      s.store(T, E1).lease(A, E1)
      s.deliver(B, E1)
    }
  ],
  [
    "at most one session holds an event",
    "two clients",
    (s) => {
      s.store(T, E1).deliver(A, E1)
      s.arrive(B, E1, "invented")
    }
  ],
  [
    "at most one session holds an event",
    "an expired lease that is renewed",
    (s) => {
      s.store(T, E1).deliver(A, E1)
      s.pass(LEASE_MILLIS).renew(E1)
    }
  ],
  [
    "at most one session holds an event",
    "a shortened lease",
    (s) => {
      s.store(T, E1).deliver(A, E1)
      s.change(E1, { leasedUntil: s.now })
    }
  ],
  [
    "only closed sessions release leases",
    "a session that stays open",
    (s) => {
      s.store(T, E1).deliver(A, E1)
      s.release(E1).deliver(B, E1)
    }
  ],
  [
    "a session receives events in order",
    "an older event that was available",
    (s) => {
      s.store(T, E1, E2).deliver(A, E2)
      s.deliver(A, E1)
    }
  ],
  [
    "a session receives events in order",
    "an older event that was leased elsewhere too late",
    (s) => {
      s.store(T, E1, E2).deliver(A, E2)
      s.deliver(B, E1)
      s.close(B).release(E1).deliver(A, E1)
    }
  ],
  [
    "a session receives events in order",
    "events of one statement in another order",
    (s) => {
      const [first, second] = s.store(T, E1, E2).lease(A, E1, E2)
      s.rolledBack.push({ from: 0, to: s.now })
      s.arrive(A, E2, second!).arrive(A, E1, first!)
    }
  ],
  [
    "a session receives events in order",
    "an event that is overtaken long after a rollback",
    (s) => {
      s.store(T, E1, E2).rolledBack.push({ from: s.now, to: s.now + 1 })
      s.pass(60_000).deliver(A, E2)
      s.deliver(A, E1)
    }
  ],
  [
    "events are ordered by commit",
    "a later event with an earlier id",
    (s) => s.store(T, E2).store(T, E1).deliver(A, E1)
  ],
  ["events are ordered by commit", "another order within a call", (s) => s.store(T, E2, E1).deliver(A, E1)],
  [
    "events are ordered by commit",
    "createdAt against the ids",
    (s) => {
      const events = [{ tenantId: T, eventId: E1, createdAt: s.store(T, E2).now, mark: E1 }]
      s.appends.push({ calledAt: 0, returnedAt: s.now, events })
    }
  ],
  [
    "acknowledgements are genuine",
    "an event that becomes acknowledged by itself",
    (s) => {
      s.store(T, E1).deliver(A, E1)
      s.end(E1).send(T, E1)
    },
    true
  ],
  [
    "acknowledgements are genuine",
    "an acknowledgement of another tenant that counts",
    (s) => {
      s.store(T, E1).deliver(A, E1)
      s.send(STRANGER, E1)
      s.end(E1)
    },
    true
  ],
  ["acknowledgements are genuine", "a lost delivery that counts", (s) => s.acknowledge(T, E1, loseAndDeliverAgain(s))],
  [
    "acknowledgements are genuine",
    "an expired delivery that counts",
    (s) => {
      const late = s.store(T, E1).deliver(A, E1)
      s.pass(LEASE_MILLIS).acknowledge(T, E1, late)
    }
  ],
  [
    "acknowledgements are genuine",
    "a stale acknowledgement that counts",
    (s) => {
      const stale = s.send(T, s.store(T, E1).appends[0]!.events[0]!.eventId, s.deliver(A, E1))
      s.end(E1).answer(stale, "stale")
    },
    true
  ],
  [
    "acknowledgements are genuine",
    "an answer that comes too early",
    (s) => {
      s.store(T, E1).deliver(A, E1)
      s.answer(s.send(T, E1), "acknowledged")
    }
  ],
  [
    "acknowledgements are genuine",
    "no answer over an open socket",
    (s) => {
      const delivery = s.store(T, E1).deliver(A, E1)
      s.send(T, E1, delivery, A)
    }
  ],
  [
    "stale means that the lease was lost",
    "a live delivery",
    (s) => s.answer(s.send(T, E1, s.store(T, E1).deliver(A, E1)), "stale")
  ],
  [
    "stale means that the lease was lost",
    "no delivery id",
    (s) => {
      s.store(T, E1).deliver(A, E1)
      s.answer(s.send(T, E1), "stale")
    }
  ],
  [
    "acknowledged is final",
    "a delivery after the acknowledgement",
    (s) => {
      s.store(T, E1).deliver(A, E1)
      s.acknowledge(T, E1).deliver(B, E1)
    }
  ]
]

describe("the invariants of events", () => {
  it.each(ALLOWED)("allow %s", (_what, tell) => {
    expect(violated(tell)).toEqual([])
  })

  it.each(VIOLATIONS)("%s: reject %s", (...[invariant, , tell, isOpen]) => {
    expect(violated(tell, isOpen)).toContain(invariant)
  })

  it("are all covered", () => {
    expect(new Set(VIOLATIONS.map(([invariant]) => invariant))).toEqual(new Set(Object.keys(EVENT_INVARIANTS)))
  })
})
