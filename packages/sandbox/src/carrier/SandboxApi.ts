import * as Schema from "effect/Schema"
import { type FaultPlan, faultRoutes } from "../shared/FaultPlan.ts"
import { decodeJson, errorResult, ok, readJson, type Handler, type Routes } from "../shared/JsonServer.ts"
import { availableAreaCodes } from "./api/NumberApi.ts"
import { faultOperations, type FaultOperation } from "./api/TwilioRequest.ts"
import type { ActiveCalls } from "./call/ActiveCalls.ts"
import { Caller, Person } from "./call/Person.ts"
import type { CallbackDelivery } from "./call/Webhooks.ts"
import type { CallClock } from "./CallClock.ts"
import type { CallRecord, CarrierStore } from "./CarrierStore.ts"
import type { RequestLog } from "./RequestLog.ts"

export interface SandboxApiOptions {
  readonly store: CarrierStore
  readonly activeCalls: ActiveCalls
  readonly requestLog: RequestLog
  readonly clock: CallClock
  readonly faults: FaultPlan<FaultOperation>
  readonly delivery: { current: CallbackDelivery }
  readonly limits: { current: typeof Limits.Type }
}

const Clock = Schema.Struct({ speed: Schema.Number.check(Schema.isBetween({ minimum: 0.1, maximum: 10_000 })) })

const Delivery = Schema.Struct({
  copies: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 5 })),
  order: Schema.Literals(["usual", "reversed"])
})

const Limits = Schema.Struct({ kept: Schema.Boolean })

export const defaultDelivery: CallbackDelivery = { copies: 1, order: "usual" }

/** The routes that control the carrier and the simulated people. They need no credentials: the port is local. */
export const makeSandboxApi = (options: SandboxApiOptions): Routes => {
  const { activeCalls, clock, delivery, faults, requestLog, limits, store } = options
  const speed = () => ok({ speed: clock.speed() })
  const currentDelivery = () => ok(delivery.current)
  return {
    /** `{number, behaviour, lines, seconds, …}` sets how a person behaves when called; see `Person`. */
    "/sandbox/people": {
      GET: async () => ok({ people: [...store.people.values()] }),
      POST: async (request) => {
        const person = decodeJson(Person, await readJson(request), { behaviour: "answers", lines: [] })
        await store.putPerson(person)
        return ok(person)
      }
    },
    /** `{from, to, lines, …}` makes a person call a number. Returns the call's id, which is its sid. */
    "/sandbox/calls": {
      GET: async () => ok({ calls: [...store.calls.values()].map(toCallState) }),
      POST: async (request) => {
        const caller = decodeJson(Caller, await readJson(request), { lines: [] })
        const number = [...store.numbers.values()].find(({ phoneNumber }) => phoneNumber === caller.to)
        const { sid } = await activeCalls.receiveCall(caller, number)
        return ok({ id: sid })
      }
    },
    /** The requests to Twilio's API and the events of calls. */
    "/sandbox/log": {
      GET: async () =>
        ok({
          requests: requestLog.requests(),
          events: requestLog.events(),
          forgottenRequests: requestLog.forgottenRequests()
        })
    },
    /** `{speed}` sets the speed of the calls' clock. */
    "/sandbox/clock": {
      GET: async () => speed(),
      POST: async (request) => {
        clock.setSpeed(decodeJson(Clock, await readJson(request), {}).speed)
        return speed()
      }
    },
    /** `{copies, order}` sets how later status callbacks are delivered. DELETE restores the default. */
    "/sandbox/callbacks": {
      GET: async () => currentDelivery(),
      POST: async (request) => {
        delivery.current = decodeJson(Delivery, await readJson(request), defaultDelivery)
        return currentDelivery()
      },
      DELETE: async () => {
        delivery.current = defaultDelivery
        return currentDelivery()
      }
    },
    /** The owned numbers, oldest first. */
    "/sandbox/numbers": {
      GET: async () => ok({ numbers: [...store.numbers.values()].map(({ phoneNumber }) => phoneNumber) })
    },
    /** `{kept}` sets whether later time limits end calls. */
    "/sandbox/limits": {
      GET: async () => ok(limits.current),
      POST: async (request) => {
        limits.current = decodeJson(Limits, await readJson(request), {})
        return ok(limits.current)
      }
    },
    /** The area codes with numbers for sale, by country. */
    "/sandbox/area-codes": { GET: async () => ok(availableAreaCodes()) },
    ...faultRoutes(faults, faultOperations)
  }
}

/** GET /sandbox/calls/{id} returns the state of a call. Undefined for other paths. */
export const callRoute = (store: CarrierStore, path: string): Handler | undefined => {
  const [, id] = /^\/sandbox\/calls\/(CA[\da-f]{32})$/.exec(path) ?? []
  if (id === undefined) return undefined
  return async (request) => {
    if (request.method !== "GET") return errorResult(405, "method not allowed", { Allow: "GET" })
    const call = store.calls.get(id)
    return call === undefined ? errorResult(404, "no such call") : ok(toCallState(call))
  }
}

/** `state` has four values, `status` is Twilio's. */
const toCallState = (call: CallRecord) => ({
  id: call.sid,
  state: stateOf(call),
  heard: call.heard,
  endedBy: call.endedBy,
  status: call.status,
  direction: call.direction,
  from: call.from,
  to: call.to,
  said: call.said,
  seconds: call.durationSeconds,
  timeLimitSeconds: call.timeLimitSeconds,
  reason: call.reason
})

const stateOf = ({ status }: CallRecord): "ringing" | "in-progress" | "completed" | "rejected" => {
  if (status === "queued" || status === "ringing") return "ringing"
  return status === "in-progress" || status === "completed" ? status : "rejected"
}
