import { CallStore, PhoneNumberStore } from "@agentos/core"
import { describe } from "@effect/vitest"
import { Effect } from "effect"
import type { ContractTests, HarnessServices } from "../Contract.ts"
import * as Fresh from "../Fresh.ts"
import { type Change, undoneTest } from "../kernel/UndoneTests.ts"
import { StoreClock } from "../StoreClock.ts"
import * as Calls from "./CallSample.ts"
import * as Numbers from "./PhoneNumberSample.ts"

type Changes<Ports> = Readonly<
  Record<string, Effect.Effect<Change<Ports | HarnessServices>, unknown, Ports | HarnessServices>>
>

/** A number that an operation has reserved, and an effect that reads its holder. */
const reservation = Effect.gen(function* () {
  const store = yield* PhoneNumberStore
  const [number, operation] = yield* Effect.all([Numbers.e164, Fresh.id])
  yield* store.reserve(number, operation)
  const observe = Effect.all([store.reservation(operation), store.findReserved([number]), store.findByNumber(number)])
  return { store, number, operation, observe }
})

const numberChanges: Changes<PhoneNumberStore> = {
  reserve: Effect.gen(function* () {
    const { observe, operation, store } = yield* reservation
    return { make: store.reserve(yield* Numbers.e164, operation), observe }
  }),
  release: Effect.map(reservation, ({ observe, operation, store }) => ({ make: store.release(operation), observe })),
  create: Effect.gen(function* () {
    const { number, observe, operation, store } = yield* reservation
    const made = yield* Numbers.phoneNumber(yield* Fresh.tenant, { number })
    return { make: store.create(made, operation), observe }
  }),
  update: Effect.gen(function* () {
    const store = yield* PhoneNumberStore
    const { number } = yield* Numbers.owner
    return { make: store.update(Numbers.released(number)), observe: store.findByNumber(number.number) }
  }),
  updateEach: Effect.gen(function* () {
    const store = yield* PhoneNumberStore
    const { number, tenant, tenantId } = yield* Numbers.owner
    const other = yield* Numbers.stored(tenant)
    const changed = [Numbers.released(number), { ...other, agentName: "Eve" }]
    return { make: store.updateEach(changed), observe: store.list(tenantId) }
  })
}

/** An answered call with turns, and an effect that reads its whole state. */
const conversation = Effect.gen(function* () {
  const store = yield* CallStore
  const { answered } = yield* Calls.caller
  const call = yield* answered()
  yield* store.addTurn(call.callId, Calls.said("Hello", "agent"))
  const observe = Effect.all([store.get(call.callId), store.live(call.phoneNumberId), store.turns(call.callId)])
  return { store, call, observe }
})

const callChanges: Changes<CallStore | PhoneNumberStore> = {
  create: Effect.gen(function* () {
    const store = yield* CallStore
    const { number } = yield* Calls.caller
    const call = yield* Calls.call(number)
    return { make: store.create(call), observe: store.live(number.phoneNumberId) }
  }),
  update: Effect.map(conversation, ({ call, observe, store }) => ({ make: store.update(Calls.ended(call)), observe })),
  extend: Effect.gen(function* () {
    const { call, observe, store } = yield* conversation
    return { make: store.extend(call.callId, yield* Fresh.id, 60), observe }
  }),
  revokeExtension: Effect.gen(function* () {
    const { call, observe, store } = yield* conversation
    const operation = yield* Fresh.id
    yield* store.extend(call.callId, operation, 60)
    return { make: store.revokeExtension(operation), observe }
  }),
  takeWatched: Effect.gen(function* () {
    const store = yield* Calls.unwatched
    const clock = yield* StoreClock
    const { begun } = yield* Calls.caller
    const call = yield* begun({ watchAt: yield* clock.now })
    return { make: store.takeWatched(10, 60_000), observe: store.get(call.callId) }
  }),
  postponeWatch: Effect.gen(function* () {
    const { call, observe, store } = yield* conversation
    return { make: store.postponeWatch(call.callId, call.watchAt, 90_000), observe }
  }),
  addTurn: Effect.map(conversation, ({ call, observe, store }) => ({
    make: store.addTurn(call.callId, Calls.said("Hi")),
    observe
  })),
  setTurnText: Effect.map(conversation, ({ call, observe, store }) => ({
    make: store.setTurnText(call.callId, 0, "Hel"),
    observe
  }))
}

/** Tests that every change of numbers takes part in its transaction. */
export const numberChangeTests: ContractTests<PhoneNumberStore> = (it) => {
  describe("every change of numbers", () => {
    for (const [name, prepare] of Object.entries(numberChanges)) {
      undoneTest<PhoneNumberStore, PhoneNumberStore | HarnessServices>(it, name, prepare)
    }
  })
}

/** Tests that every change of calls takes part in its transaction. */
export const callChangeTests: ContractTests<CallStore | PhoneNumberStore> = (it) => {
  describe("every change of calls", () => {
    for (const [name, prepare] of Object.entries(callChanges)) {
      undoneTest<CallStore | PhoneNumberStore, CallStore | PhoneNumberStore | HarnessServices>(it, name, prepare)
    }
  })
}
