import {
  type InboundMail,
  InboundMailStore,
  MailboxStore,
  type MessageStore,
  Timestamp,
  type WaitingMail
} from "@agentos/core"
import { assert, describe } from "@effect/vitest"
import { Array, Effect, Stream } from "effect"
import { AWKWARD_TEXTS } from "../AwkwardText.ts"
import { type ContractTests, defineContract, type HarnessServices } from "../Contract.ts"
import * as Fresh from "../Fresh.ts"
import { type Change, undoneTest } from "../kernel/UndoneTests.ts"
import { overlapping } from "../Overlap.ts"
import { rolledBack } from "../RolledBack.ts"
import { StoreClock } from "../StoreClock.ts"
import { completeTests } from "./InboundMailCompletionTests.ts"
import { giveUpTests } from "./InboundMailGivingUpTests.ts"
import { handTests } from "./InboundMailHandTests.ts"
import { emptied, ids, LEASE, queued } from "./InboundMailSample.ts"
import * as Mailboxes from "./MailboxSample.ts"
import * as Sample from "./MessageSample.ts"

type Ports = InboundMailStore | MailboxStore | MessageStore
type R = Ports | HarnessServices

const MIB = 1024 * 1024

/** Returns an added mail for comparison: its bytes as text, and without attempts. */
const content = ({ attempts: _, raw, ...rest }: InboundMail) => ({
  ...rest,
  sizeBytes: raw.length,
  raw: Sample.latin1(raw)
})

/** Returns leased mails for comparison, with the bytes that the store returns for them. */
const contents = (mails: ReadonlyArray<WaitingMail>) =>
  Effect.forEach(mails, ({ attempts: _, replayedAfter: _1, failedAttempt: _2, ...rest }) =>
    Effect.map(Sample.bytesOf(rest), (bytes) => ({ ...rest, raw: Sample.latin1(bytes) }))
  )

const leaseTests: ContractTests<Ports> = (it, capabilities) => {
  describe("add and lease", () => {
    it.effect("return a mail unchanged, byte for byte", () =>
      Effect.gen(function* () {
        const store = yield* emptied
        const everyByte = Uint8Array.from({ length: 1_024 }, (_, index) => index % 256)
        const raws = [
          everyByte,
          new Uint8Array(0),
          new Uint8Array([0]),
          new Uint8Array([0xff, 0xfe, 0, 0, 0xc3, 0x28, 13, 10, 92, 39, 0]),
          new TextEncoder().encode("Subject: ünïcödé\r\n\r\n👋\r\n.\r\n"),
          Uint8Array.from({ length: 3_000_000 }, (_, index) => (index * 7919) % 251),
          Uint8Array.from({ length: 2 * MIB }, (_, index) => (index * 7919) % 251),
          new Uint8Array(2 * MIB + 1)
        ]
        const mails = yield* Effect.forEach(raws, (raw) => Sample.addedMail({ raw }))
        const leased = yield* store.lease(10, LEASE)
        assert.sameDeepMembers(yield* contents(leased), mails.map(content))
        assert.isTrue(leased.every((mail) => mail.attempts === 1))
      })
    )

    it.effect("return no bytes of a deleted or an unknown mail", () =>
      Effect.gen(function* () {
        yield* emptied
        const mail = yield* Sample.addedMail()
        yield* Sample.completed(mail)
        assert.lengthOf(yield* Sample.bytesOf(mail), 0)
        assert.lengthOf(yield* Sample.bytesOf({ inboundMailId: yield* Fresh.id }), 0)
      })
    )

    it.effect("keep every text of the envelope", () =>
      Effect.gen(function* () {
        const store = yield* emptied
        const mails = yield* Effect.forEach(AWKWARD_TEXTS, (text) =>
          Sample.addedMail({
            envelope: {
              mailFrom: text,
              rcptTo: [text, "", text],
              remoteAddress: "2001:db8::7",
              helo: text,
              secure: false
            }
          })
        )
        const bounce = yield* Sample.addedMail({
          envelope: { mailFrom: "", rcptTo: [], remoteAddress: "", helo: "", secure: true }
        })
        const leased = yield* store.lease(100, LEASE)
        assert.sameDeepMembers(yield* contents(leased), [...mails, bounce].map(content))
      })
    )

    it.effect("return up to `limit` mails, oldest first, in whatever order they were added", () =>
      Effect.gen(function* () {
        const store = yield* emptied
        const clock = yield* StoreClock
        const now = yield* clock.now
        const added = yield* Effect.forEach([3, 1, 5, 2, 4], (n) =>
          Sample.addedMail({ receivedAt: Timestamp.add(now, n * 1_000) })
        )
        const ordered = ids(added.toSorted((a, b) => a.receivedAt - b.receivedAt))
        assert.deepStrictEqual(yield* store.lease(0, LEASE), [])
        assert.deepStrictEqual(ids(yield* store.lease(2, LEASE)), ordered.slice(0, 2))
        assert.deepStrictEqual(ids(yield* store.lease(10, LEASE)), ordered.slice(2))
        assert.deepStrictEqual(yield* store.lease(10, LEASE), [])
      })
    )

    it.effect("leave out the mail of some networks, and only that", () =>
      Effect.gen(function* () {
        const store = yield* emptied
        const from = (network: string | undefined) =>
          Effect.gen(function* () {
            const { envelope } = yield* Sample.inboundMail()
            return yield* Sample.addedMail({ envelope: { ...envelope, network } })
          })
        const [first, second, third, old] = [
          yield* from("192.0.2.0/24"),
          yield* from("198.51.100.0/24"),
          yield* from("192.0.2.0/2"),
          yield* from(undefined)
        ]
        assert.sameMembers(ids(yield* store.lease(10, LEASE, ["192.0.2.0/24", "198.51.100.0/24"])), ids([third, old]))
        assert.sameMembers(ids(yield* store.lease(10, LEASE, ["198.51.100.0/24"])), ids([first]))
        assert.sameMembers(ids(yield* store.lease(10, LEASE)), ids([second]))
      })
    )

    it.effect("return a mail again when its lease has expired, and count each attempt", () =>
      Effect.gen(function* () {
        const store = yield* emptied
        const clock = yield* StoreClock
        const [first, second] = yield* queued(2)
        assert.deepStrictEqual(ids(yield* store.lease(1, LEASE)), [first!.inboundMailId])
        assert.deepStrictEqual(ids(yield* store.lease(1, 3 * LEASE)), [second!.inboundMailId])
        yield* clock.advance(LEASE - 10_000)
        assert.deepStrictEqual(yield* store.lease(10, LEASE), [])
        yield* clock.advance(10_000)
        const again = yield* store.lease(10, LEASE)
        assert.deepStrictEqual(yield* contents(again), [content(first!)])
        assert.strictEqual(again[0]!.attempts, 2)
        yield* clock.advance(2 * LEASE)
        assert.deepStrictEqual(
          (yield* store.lease(10, LEASE)).map((mail) => [mail.inboundMailId, mail.attempts]),
          [
            [first!.inboundMailId, 3],
            [second!.inboundMailId, 2]
          ]
        )
      })
    )

    it.effect("do not lease a mail that was added with a lease until that has ended", () =>
      Effect.gen(function* () {
        const store = yield* emptied
        const clock = yield* StoreClock
        const raws = [new Uint8Array([1]), new Uint8Array(2 * MIB)]
        const staged = yield* Sample.inboundMail({ raw: new Uint8Array(3 * MIB) })
        yield* store.stage(staged)
        const added = yield* Effect.forEach(raws, (raw) => Sample.addedMail({ raw, attempts: 1 }, [], LEASE))
        yield* store.add([{ mail: { ...staged, attempts: 1 }, mailboxIds: [], leaseMillis: LEASE }])
        const [completed, ...others] = [...added, { ...staged, attempts: 1 }]
        assert.deepStrictEqual(yield* store.lease(10, LEASE), [])
        assert.isTrue(yield* Sample.completed(completed!))
        for (const mail of others) assert.isTrue(yield* store.renew(mail, LEASE))
        yield* clock.advance(LEASE)
        const again = yield* store.lease(10, LEASE)
        assert.sameMembers(ids(again), ids(others))
        assert.isTrue(again.every(({ attempts }) => attempts === 2))
        for (const mail of others) assert.isFalse(yield* Sample.completed(mail))
      })
    )

    it.effect("lease no mail to two of many concurrent readers", () =>
      Effect.gen(function* () {
        const store = yield* emptied
        const mails = yield* queued(30)
        const taken: Array<string> = []
        // A lease may return fewer mails than requested while another transaction locks the rest: then it is retried.
        for (let round = 0; round < 20 && taken.length < 30; round++) {
          const leased = yield* Effect.forEach(Array.range(1, 10), () => store.lease(2, LEASE), {
            concurrency: "unbounded"
          })
          taken.push(...ids(leased.flat()))
        }
        assert.deepStrictEqual(taken.toSorted(), ids(mails).toSorted())
      })
    )
  })

  describe("two transactions on the queue", () => {
    it.effect("lease no mail twice, and leave a rolled back lease to the next one", () =>
      Effect.gen(function* () {
        for (const firstEnds of ["committed", "rolled back"] as const) {
          const store = yield* emptied
          const mails = yield* queued(5)
          const [first, second] = yield* overlapping(capabilities, {
            first: store.lease(2, LEASE),
            second: store.lease(2, LEASE),
            firstEnds
          })
          const rest = yield* store.lease(9, LEASE)
          const kept = firstEnds === "committed" ? first : []
          assert.deepStrictEqual(ids([...kept, ...second, ...rest]).toSorted(), ids(mails).toSorted())
        }
      })
    )
  })
}

const stageTests: ContractTests<Ports> = (it) => {
  const large = Uint8Array.from({ length: 2.5 * MIB }, (_, index) => (index * 7919) % 251)

  describe("a staged mail", () => {
    it.effect("is leased after it is added, byte for byte, and not before", () =>
      Effect.gen(function* () {
        const store = yield* emptied
        for (const raw of [large, new TextEncoder().encode("small")]) {
          const mail = yield* Sample.inboundMail({ raw })
          yield* store.stage(mail)
          assert.deepStrictEqual(yield* store.lease(10, LEASE), [])
          yield* rolledBack(store.add([{ mail, mailboxIds: [] }]))
          assert.deepStrictEqual(yield* store.lease(10, LEASE), [])
          yield* store.add([{ mail, mailboxIds: [] }])
          assert.deepStrictEqual(yield* contents(yield* store.lease(10, LEASE)), [content(mail)])
        }
      })
    )

    it.effect("is deleted when it is discarded, but not after it was added", () =>
      Effect.gen(function* () {
        const store = yield* emptied
        const refused = yield* Sample.inboundMail({ raw: large })
        const taken = yield* Sample.inboundMail({ raw: large })
        yield* store.stage(refused)
        yield* store.stage(taken)
        yield* store.add([{ mail: taken, mailboxIds: [] }])
        yield* store.discard(refused.inboundMailId)
        yield* store.discard(taken.inboundMailId)
        assert.lengthOf(yield* Sample.bytesOf(refused), 0)
        assert.deepStrictEqual(yield* contents(yield* store.lease(10, LEASE)), [content(taken)])
      })
    )

    it.effect("is removed when it is old and was never added, and is not given up", () =>
      Effect.gen(function* () {
        const store = yield* emptied
        const mail = yield* Sample.inboundMail({ raw: large })
        yield* store.stage(mail)
        const given = { age: Timestamp.DAY, limit: 10 }
        yield* (yield* StoreClock).advance(Timestamp.DAY - Timestamp.MINUTE)
        assert.strictEqual(yield* store.removeStaged(given), 0)
        yield* rolledBack(store.add([{ mail, mailboxIds: [] }]))
        yield* (yield* StoreClock).advance(Timestamp.MINUTE)
        const stored = yield* Sample.bytesOf(mail)
        assert.deepStrictEqual(yield* store.giveUp({ ...given, attempts: 0 }), [])
        assert.deepStrictEqual(yield* Sample.bytesOf(mail), stored)
        assert.strictEqual(yield* store.removeStaged({ ...given, limit: 0 }), 0)
        assert.strictEqual(yield* store.removeStaged(given), stored.length > 0 ? 1 : 0)
        assert.lengthOf(yield* Sample.bytesOf(mail), 0)
      })
    )

    it.effect("is not removed after it was added, however old", () =>
      Effect.gen(function* () {
        const store = yield* emptied
        const mail = yield* Sample.inboundMail({ raw: large })
        yield* store.stage(mail)
        yield* store.add([{ mail, mailboxIds: [] }])
        yield* (yield* StoreClock).advance(Timestamp.DAY)
        assert.strictEqual(yield* store.removeStaged({ age: 0, limit: 10 }), 0)
        assert.deepStrictEqual(yield* contents(yield* store.lease(10, LEASE)), [content(mail)])
      })
    )
  })
}

const rawTests: ContractTests<Ports> = (it) => {
  describe("findRaw", () => {
    it.effect("returns the bytes of a message, before and after its mail is completed", () =>
      Effect.gen(function* () {
        const store = yield* emptied
        const { mailbox, tenantId } = yield* Mailboxes.owner
        const raw = Uint8Array.from({ length: 70_000 }, (_, index) => (index * 31) % 256)
        const mail = yield* Sample.addedMail({ raw })
        const message = yield* Sample.stored(mailbox, {}, { inboundMailId: mail.inboundMailId })
        assert.strictEqual(yield* Sample.rawOf(message), Sample.latin1(raw))
        yield* Sample.completed(mail)
        assert.strictEqual(yield* Sample.rawOf(message), Sample.latin1(raw))
        const found = yield* store.findRaw(tenantId, message.messageId)
        assert.deepStrictEqual(found, { inboundMailId: mail.inboundMailId, sizeBytes: raw.length })
      })
    )

    it.effect("reads each part of a mail, in pieces of at most 256 KiB", () =>
      Effect.gen(function* () {
        const store = yield* emptied
        const piece = 256 * 1024
        const raw = Uint8Array.from({ length: 2 * piece + 100 }, (_, index) => (index * 31 + (index >> 9)) % 256)
        const mail = yield* Sample.inboundMail({ raw })
        yield* store.stage(mail)
        yield* store.add([{ mail, mailboxIds: [] }])
        for (const [offset, bytes] of [
          [0, raw.length],
          [0, 0],
          [1, piece],
          [piece - 1, 2],
          [piece, piece],
          [piece + 5, piece + 90],
          [2 * piece, 100],
          [raw.length, 0],
          [raw.length - 3, 50]
        ] as const) {
          const pieces = yield* Stream.runCollect(store.readPieces(mail.inboundMailId, { offset, bytes }))
          assert.isTrue(pieces.every(({ length }) => length <= piece))
          const read = Uint8Array.from(Buffer.concat(pieces))
          assert.strictEqual(
            Sample.latin1(read),
            Sample.latin1(raw.slice(offset, offset + bytes)),
            `${offset} ${bytes}`
          )
        }
      })
    )

    it.effect("returns the bytes of its own mail for each message, and the same for messages of one mail", () =>
      Effect.gen(function* () {
        yield* emptied
        const one = yield* Mailboxes.owner
        const two = yield* Mailboxes.owner
        const [shared, own] = yield* queued(2)
        const refer = (mailbox: typeof one.mailbox, { inboundMailId }: InboundMail) =>
          Sample.stored(mailbox, {}, { inboundMailId })
        const [a, b, c] = [
          yield* refer(one.mailbox, shared!),
          yield* refer(two.mailbox, shared!),
          yield* refer(one.mailbox, own!)
        ]
        yield* Effect.forEach([shared!, own!], Sample.completed)
        assert.strictEqual(yield* Sample.rawOf(a), Sample.latin1(shared!.raw))
        assert.strictEqual(yield* Sample.rawOf(b), Sample.latin1(shared!.raw))
        assert.strictEqual(yield* Sample.rawOf(c), Sample.latin1(own!.raw))
      })
    )

    it.effect("returns nothing to another tenant, for a message without raw mail, or for an unknown one", () =>
      Effect.gen(function* () {
        const store = yield* emptied
        const { mailbox, tenantId } = yield* Mailboxes.owner
        const other = yield* Mailboxes.owner
        const mail = yield* Sample.addedMail()
        const message = yield* Sample.stored(mailbox, {}, { inboundMailId: mail.inboundMailId })
        const sent = yield* Sample.stored(mailbox, { direction: "outbound" })
        yield* Sample.completed(mail)
        assert.isUndefined(yield* store.findRaw(other.tenantId, message.messageId))
        assert.isUndefined(yield* store.findRaw(tenantId, sent.messageId))
        assert.isUndefined(yield* store.findRaw(tenantId, yield* Fresh.id))
        assert.isUndefined(yield* store.findRaw(yield* Fresh.id, message.messageId))
      })
    )

    it.effect("returns nothing for a copy that was not stored", () =>
      Effect.gen(function* () {
        const store = yield* emptied
        const { mailbox, tenantId } = yield* Mailboxes.owner
        const duplicateKey = yield* Fresh.word
        const [mail, again] = yield* queued(2)
        const message = yield* Sample.stored(mailbox, {}, { duplicateKey, inboundMailId: mail!.inboundMailId })
        const copy = yield* Sample.message(mailbox)
        assert.strictEqual(yield* Sample.inserted(copy, { duplicateKey, inboundMailId: again!.inboundMailId }), 0)
        yield* Effect.forEach([mail!, again!], Sample.completed)
        assert.isUndefined(yield* store.findRaw(tenantId, copy.messageId))
        assert.strictEqual(yield* Sample.rawOf(message), Sample.latin1(mail!.raw))
      })
    )
  })

  describe("a mail that is not completed", () => {
    it.effect("outlives the mailbox of a message that refers to it, since it must still be read", () =>
      Effect.gen(function* () {
        const store = yield* emptied
        const mailboxes = yield* MailboxStore
        const { mailbox, tenantId } = yield* Mailboxes.owner
        const mail = yield* Sample.addedMail()
        yield* Sample.stored(mailbox, {}, { inboundMailId: mail.inboundMailId })
        yield* mailboxes.remove(tenantId, mailbox.mailboxId)
        assert.deepStrictEqual(yield* contents(yield* store.lease(10, LEASE)), [content(mail)])
      })
    )
  })
}

/** The waiting mails of the queue, found by a lease that is rolled back. */
const waiting = Effect.gen(function* () {
  const store = yield* InboundMailStore
  let mails: ReadonlyArray<WaitingMail> = []
  yield* rolledBack(
    Effect.map(store.lease(1_000, LEASE), (leased) => {
      mails = leased
    })
  )
  return mails.map((mail) => [mail.inboundMailId, mail.attempts])
})

const undoneTests: ContractTests<Ports> = (it) => {
  const changes: Readonly<Record<string, Effect.Effect<Change<R>, unknown, R>>> = {
    add: Effect.gen(function* () {
      const store = yield* emptied
      return { make: store.add([{ mail: yield* Sample.inboundMail(), mailboxIds: [] }]), observe: waiting }
    }),
    "add of a large mail": Effect.gen(function* () {
      const store = yield* emptied
      const mail = yield* Sample.inboundMail({ raw: new Uint8Array(2 * MIB) })
      return { make: store.add([{ mail, mailboxIds: [] }]), observe: waiting }
    }),
    lease: Effect.gen(function* () {
      const store = yield* emptied
      yield* queued(2)
      return { make: store.lease(1, LEASE), observe: waiting }
    }),
    complete: Effect.gen(function* () {
      yield* emptied
      const [mail] = yield* queued(2)
      return { make: Sample.completed(mail!), observe: waiting }
    }),
    renew: Effect.gen(function* () {
      const store = yield* emptied
      yield* queued(2)
      const [mail] = yield* store.lease(1, 0)
      return { make: store.renew(mail!, LEASE), observe: waiting }
    }),
    postpone: Effect.gen(function* () {
      const store = yield* emptied
      yield* queued(2)
      const [mail] = yield* store.lease(1, 0)
      return { make: store.postpone(mail!, LEASE, "a failure"), observe: waiting }
    }),
    replay: Effect.gen(function* () {
      const store = yield* emptied
      const [mail] = yield* queued(2)
      const [leased] = yield* store.lease(1, 0)
      yield* store.postpone(leased!, LEASE, "a failure")
      return { make: store.replay(mail!.inboundMailId), observe: waiting }
    }),
    drop: Effect.gen(function* () {
      const store = yield* emptied
      const [mail] = yield* queued(2)
      return { make: store.drop(mail!.inboundMailId), observe: waiting }
    }),
    giveUp: Effect.gen(function* () {
      const store = yield* emptied
      yield* queued(2)
      yield* store.lease(1, 0)
      yield* (yield* StoreClock).advance(Timestamp.HOUR)
      return { make: store.giveUp({ age: 0, attempts: 1, limit: 9 }), observe: waiting }
    })
  }
  describe("a change", () => {
    for (const [name, prepare] of Object.entries(changes)) undoneTest<Ports, R>(it, name, prepare)
  })
}

/** The contract tests of `InboundMailStore`. No two runs may share a database at the same time. */
export const InboundMailStoreContract = defineContract<Ports>("InboundMailStore", (it, capabilities) => {
  leaseTests(it, capabilities)
  stageTests(it, capabilities)
  completeTests(it, capabilities)
  rawTests(it, capabilities)
  giveUpTests(it, capabilities)
  handTests(it, capabilities)
  undoneTests(it, capabilities)
})
