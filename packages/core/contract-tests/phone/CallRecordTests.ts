import { type Call, type CallFilter, CallStore, type PhoneNumberStore, Timestamp } from "@agentos/core"
import { assert, describe } from "@effect/vitest"
import { Array, Effect, Option } from "effect"
import { AWKWARD_TEXTS } from "../AwkwardText.ts"
import type { ContractTests } from "../Contract.ts"
import * as Fresh from "../Fresh.ts"
import { readPages } from "../Paging.ts"
import { refused } from "../Refused.ts"
import * as Sample from "./CallSample.ts"
import * as Numbers from "./PhoneNumberSample.ts"

const readTests: ContractTests<CallStore | PhoneNumberStore> = (it) => {
  describe("find and get", () => {
    it.effect("distinguish the tenant's own call, another tenant's and a missing one", () =>
      Effect.gen(function* () {
        const store = yield* CallStore
        const { begun, tenantId } = yield* Sample.caller
        const call = yield* begun()
        const other = yield* Fresh.tenant
        assert.deepStrictEqual(yield* store.find(tenantId, call.callId), { _tag: "Owned", value: call })
        assert.deepStrictEqual(yield* store.find(other.tenantId, call.callId), { _tag: "Foreign" })
        assert.deepStrictEqual(yield* store.find(tenantId, yield* Fresh.id), { _tag: "Missing" })
        assert.deepStrictEqual(yield* store.get(call.callId), Option.some(call))
        assert.deepStrictEqual(yield* store.get(yield* Fresh.id), Option.none())
      })
    )

    it.effect("return every text exactly, and null if none was set", () =>
      Effect.gen(function* () {
        const store = yield* CallStore
        const { begun } = yield* Sample.caller
        for (const text of AWKWARD_TEXTS) {
          const call = yield* begun({ greeting: text, fromNumber: text, toNumber: text })
          assert.deepStrictEqual(yield* store.get(call.callId), Option.some(call))
        }
      })
    )
  })

  describe("findByProvider", () => {
    it.effect("returns the call with the carrier's id, even after it has ended", () =>
      Effect.gen(function* () {
        const store = yield* CallStore
        const { begun } = yield* Sample.caller
        const providerCallId = yield* Fresh.word
        const inbound = yield* begun({ direction: "inbound", providerCallId })
        const outbound = yield* begun()
        const known = { ...outbound, providerCallId: yield* Fresh.word }
        assert.deepStrictEqual(yield* store.findByProvider(known.providerCallId), Option.none())
        yield* store.update(known)
        assert.deepStrictEqual(yield* store.findByProvider(known.providerCallId), Option.some(known))
        yield* store.update(Sample.ended(inbound))
        assert.deepStrictEqual(yield* store.findByProvider(providerCallId), Option.some(Sample.ended(inbound)))
      })
    )
  })

  describe("live", () => {
    it.effect("returns the calls of the number that have not ended, oldest first", () =>
      Effect.gen(function* () {
        const store = yield* CallStore
        const { answered, begun, number } = yield* Sample.caller
        const other = yield* Sample.caller
        assert.deepStrictEqual(yield* store.live(number.phoneNumberId), [])
        const middle = yield* answered()
        const older = yield* begun({ createdAt: Timestamp.add(middle.createdAt, -60_000) })
        const newer = yield* begun({ createdAt: Timestamp.add(middle.createdAt, 60_000), state: "ringing" })
        yield* store.create(Sample.ended(yield* Sample.call(number)))
        const foreign = yield* other.begun()
        assert.deepStrictEqual(yield* store.live(number.phoneNumberId), [older, middle, newer])
        yield* store.update(Sample.ended(middle))
        assert.deepStrictEqual(yield* store.live(number.phoneNumberId), [older, newer])
        assert.deepStrictEqual(yield* store.live(other.number.phoneNumberId), [foreign])
        assert.deepStrictEqual(yield* store.live(yield* Fresh.id), [])

        const both = [number, other.number].map(({ phoneNumberId }) => phoneNumberId)
        const found = yield* store.liveEach([...both, yield* Fresh.id, number.phoneNumberId])
        assert.sameDeepMembers([...found], [older, newer, foreign])
        assert.deepStrictEqual(yield* store.liveEach([yield* Fresh.id]), [])
        assert.deepStrictEqual(yield* store.liveEach([]), [])
      })
    )
  })

  describe("list", () => {
    it.effect("returns the tenant's calls of every state newest first, in pages, by number, direction and time", () =>
      Effect.gen(function* () {
        const store = yield* CallStore
        const { number: one, tenant } = yield* Numbers.owner
        const two = yield* Numbers.stored(tenant)
        const { number: foreign } = yield* Numbers.owner
        const moment = (n: number) => Timestamp.Timestamp.make(1_700_000_000_000 + n)
        // Two calls each were created at the same time.
        const placed = yield* Effect.forEach(Array.range(0, 9), (n) =>
          Sample.stored(n % 2 === 0 ? one : two, {
            createdAt: moment(n - (n % 2)),
            direction: n % 3 === 0 ? "inbound" : "outbound",
            ...(n < 5 ? { state: "ended", watchAt: null } : {})
          })
        )
        yield* Sample.stored(foreign, { createdAt: moment(3) })
        const newestFirst = placed.toSorted((a, b) => b.createdAt - a.createdAt || (a.callId < b.callId ? 1 : -1))
        const { tenantId } = tenant
        const expectList = Effect.fnUntraced(function* (filter: CallFilter, isListed: (call: Call) => boolean) {
          const listed = yield* readPages({
            load: (after, limit) => store.list(tenantId, filter, after, limit),
            positionOf: ({ callId, createdAt }) => ({ createdAt, id: callId }),
            limit: 3,
            most: 10
          })
          assert.deepStrictEqual(listed, newestFirst.filter(isListed))
        })
        yield* expectList({}, () => true)
        const { phoneNumberId } = one
        yield* expectList({ phoneNumberId }, (call) => call.phoneNumberId === phoneNumberId)
        yield* expectList({ direction: "inbound" }, (call) => call.direction === "inbound")
        const between = { after: moment(2), before: moment(6) }
        yield* expectList(between, ({ createdAt }) => createdAt >= moment(2) && createdAt < moment(6))
        yield* expectList(
          { ...between, phoneNumberId, direction: "outbound" },
          (call) =>
            call.phoneNumberId === phoneNumberId &&
            call.direction === "outbound" &&
            call.createdAt >= moment(2) &&
            call.createdAt < moment(6)
        )
        yield* expectList({ phoneNumberId: foreign.phoneNumberId }, () => false)
      })
    )
  })

  describe("recent", () => {
    it.effect("returns a tenant's outbound calls of all its numbers since a moment, newest first, up to a limit", () =>
      Effect.gen(function* () {
        const store = yield* CallStore
        const { number: one, tenant } = yield* Numbers.owner
        const two = yield* Numbers.stored(tenant)
        const { number: foreign } = yield* Numbers.owner
        const at = (n: number) => ({ createdAt: Timestamp.Timestamp.make(1_700_000_000_000 + n) })
        const placed = yield* Effect.forEach(Array.range(1, 5), (n) => Sample.stored(n % 2 === 0 ? one : two, at(n)))
        yield* Sample.stored(one, { ...at(9), direction: "inbound" })
        yield* Sample.stored(foreign, at(9))
        const ids = placed.map(({ callId }) => callId).toReversed()
        const recent = (since: number, limit: number) =>
          Effect.map(store.recent(tenant.tenantId, at(since).createdAt, limit), (found) =>
            found.map(({ callId }) => callId)
          )
        assert.deepStrictEqual(yield* recent(0, 10), ids)
        assert.deepStrictEqual(yield* recent(3, 10), ids.slice(0, 3))
        assert.deepStrictEqual(yield* recent(0, 2), ids.slice(0, 2))
        assert.deepStrictEqual(yield* recent(6, 10), [])
        assert.deepStrictEqual(yield* store.recent(yield* Fresh.id, at(0).createdAt, 10), [])
      })
    )
  })
}

const writeTests: ContractTests<CallStore | PhoneNumberStore> = (it) => {
  describe("create", () => {
    it.effect("stores a call once, by its id and by the carrier's", () =>
      Effect.gen(function* () {
        const store = yield* CallStore
        const { begun, number } = yield* Sample.caller
        const providerCallId = yield* Fresh.word
        const first = yield* begun({ direction: "inbound", providerCallId })
        assert.isFalse(yield* store.create({ ...first, greeting: "again" }))
        const same = yield* Sample.call(number, { direction: "inbound", providerCallId })
        assert.isFalse(yield* store.create(same))
        assert.deepStrictEqual(yield* store.get(same.callId), Option.none())
        assert.deepStrictEqual(yield* store.live(number.phoneNumberId), [first])
        yield* store.update(Sample.ended(first))
        assert.isFalse(yield* store.create(same), "a call that has ended is there")
        assert.isTrue(yield* store.create({ ...same, providerCallId: yield* Fresh.word }))
        assert.isTrue(yield* store.create(yield* Sample.call(number)))
        assert.isTrue(yield* store.create(yield* Sample.call(number)), "many have no id of the carrier yet")
      })
    )

    it.effect("stores an inbound call once from many concurrent reports", () =>
      Effect.gen(function* () {
        const store = yield* CallStore
        const { number } = yield* Sample.caller
        const providerCallId = yield* Fresh.word
        const calls = yield* Effect.forEach(Array.range(1, 10), () =>
          Sample.call(number, { direction: "inbound", providerCallId })
        )
        const answers = yield* Effect.forEach(calls, store.create, { concurrency: "unbounded" })
        assert.strictEqual(answers.filter((isNew) => isNew).length, 1)
        assert.deepStrictEqual(yield* store.live(number.phoneNumberId), [calls[answers.indexOf(true)]!])
      })
    )

    it.effect("stores no call of a missing number or tenant, and no live call without `watchAt`", () =>
      Effect.gen(function* () {
        const store = yield* CallStore
        const { number } = yield* Sample.caller
        const call = yield* Sample.call(number)
        yield* refused(store.create({ ...call, phoneNumberId: yield* Fresh.id }))
        yield* refused(store.create({ ...call, tenantId: yield* Fresh.id }))
        yield* refused(store.create({ ...call, watchAt: null }))
        yield* refused(store.create({ ...Sample.ended(call), watchAt: call.createdAt }))
        assert.deepStrictEqual(yield* store.live(number.phoneNumberId), [])
      })
    )
  })

  describe("update", () => {
    it.effect("replaces the fields of the call that can change, until it has ended", () =>
      Effect.gen(function* () {
        const store = yield* CallStore
        const { begun } = yield* Sample.caller
        const call = yield* begun()
        const answeredAt = Timestamp.add(call.createdAt, 3_000)
        const answered = { ...call, state: "in_progress", answeredAt, providerCallId: yield* Fresh.word } as const
        const versions: ReadonlyArray<Call> = [
          { ...call, state: "ringing", greeting: "O'Brien 👋" },
          { ...answered, watchAt: Timestamp.add(answeredAt, 60_000), authorizedSeconds: 360, extendedSeconds: 60 },
          { ...answered, hangUpReason: "time_limit", watchAt: Timestamp.add(answeredAt, 2_000) },
          call,
          { ...Sample.ended(answered), endReason: "time_limit", hangUpReason: "time_limit", connectedSeconds: 300 }
        ]
        for (const version of versions) {
          assert.isTrue(yield* store.update(version))
          assert.deepStrictEqual(yield* Sample.found(call), version)
        }
        for (const version of versions) assert.isFalse(yield* store.update(version))
        assert.deepStrictEqual(yield* Sample.found(call), versions.at(-1))
      })
    )

    it.effect("changes nothing for another tenant, of a missing call, or against the contract", () =>
      Effect.gen(function* () {
        const store = yield* CallStore
        const { begun, number } = yield* Sample.caller
        const [call, other] = [yield* begun(), yield* begun({ providerCallId: yield* Fresh.word })]
        assert.isFalse(yield* store.update({ ...call, tenantId: (yield* Fresh.tenant).tenantId, greeting: "mine" }))
        assert.isFalse(yield* store.update(yield* Sample.call(number)))
        yield* refused(store.update({ ...call, watchAt: null }))
        yield* refused(store.update({ ...Sample.ended(call), watchAt: call.createdAt }))
        yield* refused(store.update({ ...call, providerCallId: other.providerCallId }))
        assert.sameDeepMembers([...(yield* store.live(number.phoneNumberId))], [call, other])
      })
    )
  })
}

/** Tests of `find`, `get`, `findByProvider`, `live`, `recent`, `create` and `update`. */
export const callRecordTests: ContractTests<CallStore | PhoneNumberStore> = (it, capabilities) => {
  readTests(it, capabilities)
  writeTests(it, capabilities)
}
