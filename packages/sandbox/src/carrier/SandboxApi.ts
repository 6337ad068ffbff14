import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { faultRoutes } from "../fault/FaultRoutes.ts"
import type { FaultPlan } from "../fault/FaultPlan.ts"
import { failed, HttpRefusal, ok, readJson, type Handler, type Outcome, type Routes } from "../http/JsonServer.ts"
import type { Exchange } from "./call/Exchange.ts"
import { Caller, Person } from "./call/Person.ts"
import type { CallbackDelivery } from "./call/StatusCallbacks.ts"
import type { CallClock } from "./CallClock.ts"
import type { CallRecord, CarrierStore } from "./CarrierStore.ts"
import type { Journal } from "./Journal.ts"
import { listedAreaCodes } from "./NumberApi.ts"
import { faulty, type Faulty } from "./TwilioRequest.ts"

export interface SandboxApiOptions {
  readonly store: CarrierStore
  readonly exchange: Exchange
  readonly journal: Journal
  readonly clock: CallClock
  readonly faults: FaultPlan<Faulty>
  readonly delivery: { current: CallbackDelivery }
  readonly limits: { current: typeof Limits.Type }
}

const Clock = Schema.Struct({ speed: Schema.Number.check(Schema.isBetween({ minimum: 0.1, maximum: 10_000 })) })

const Delivery = Schema.Struct({
  copies: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 5 })),
  order: Schema.Literals(["usual", "reversed"])
})

const Limits = Schema.Struct({ kept: Schema.Boolean })

export const usualDelivery: CallbackDelivery = { copies: 1, order: "usual" }

/**
 * How tests and players rule the carrier and its people, without credentials; see the routes. It is reached from this
 * machine alone.
 */
export const makeSandboxApi = (options: SandboxApiOptions): Routes => {
  const { clock, delivery, exchange, faults, journal, limits, store } = options
  const speed = () => ok({ speed: clock.speed() })
  const delivered = () => ok(delivery.current)
  return {
    /** `{number, behaviour, lines, seconds, …}`: how someone behaves when they are called (see Person). */
    "/sandbox/people": {
      GET: async () => ok({ people: [...store.people.values()] }),
      POST: async (request) => {
        const person = read(Person, { behaviour: "answers", lines: [] }, await readJson(request))
        await store.putPerson(person)
        return ok(person)
      }
    },
    /** `{from, to, lines, …}`: someone calls a number; answers the call's id, which is its sid too. */
    "/sandbox/calls": {
      GET: async () => ok({ calls: [...store.calls.values()].map(showPlay) }),
      POST: async (request) => {
        const caller = read(Caller, { lines: [] }, await readJson(request))
        const number = [...store.numbers.values()].find(({ phoneNumber }) => phoneNumber === caller.to)
        const { sid } = await exchange.callIn(caller, number)
        return ok({ id: sid })
      }
    },
    /** Everything that was asked of Twilio's interface, and what the carrier did and saw in calls. */
    "/sandbox/log": {
      GET: async () =>
        ok({
          requests: journal.requests(),
          events: journal.events(),
          forgottenRequests: journal.forgottenRequests()
        })
    },
    /** `{speed}`: seconds of calls pass so much faster. */
    "/sandbox/clock": {
      GET: async () => speed(),
      POST: async (request) => {
        clock.setSpeed(read(Clock, {}, await readJson(request)).speed)
        return speed()
      }
    },
    /** `{copies, order}`: how status callbacks are delivered from now on. DELETE makes it usual again. */
    "/sandbox/callbacks": {
      GET: async () => delivered(),
      POST: async (request) => {
        delivery.current = read(Delivery, usualDelivery, await readJson(request))
        return delivered()
      },
      DELETE: async () => {
        delivery.current = usualDelivery
        return delivered()
      }
    },
    /** What is sold and was not given back, oldest first. */
    "/sandbox/numbers": {
      GET: async () => ok({ numbers: [...store.numbers.values()].map(({ phoneNumber }) => phoneNumber) })
    },
    /** `{kept}`: whether calls that are answered, or given a limit, from now on end at it. */
    "/sandbox/limits": {
      GET: async () => ok(limits.current),
      POST: async (request) => {
        limits.current = read(Limits, {}, await readJson(request))
        return ok(limits.current)
      }
    },
    /** The area codes in which numbers are for sale, by country. */
    "/sandbox/area-codes": { GET: async () => ok(listedAreaCodes()) },
    ...faultRoutes(faults, faulty)
  }
}

/** GET /sandbox/calls/{id}: how a call goes, or went, for the person in it. */
export const showCallOf = (store: CarrierStore, path: string): Handler | undefined => {
  const [, id] = /^\/sandbox\/calls\/(CA[\da-f]{32})$/.exec(path) ?? []
  if (id === undefined) return undefined
  return async (request): Promise<Outcome> => {
    if (request.method !== "GET") return failed(405, "method not allowed", { Allow: "GET" })
    const call = store.calls.get(id)
    return call === undefined ? failed(404, "no such call") : ok(showPlay(call))
  }
}

/** A call as people see it. `state` has four values; `status` is Twilio's word. */
const showPlay = (call: CallRecord) => ({
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

/** What a body says, with what it may leave out filled in. */
const read = <Body>(schema: Schema.Codec<Body, unknown>, absent: object, body: unknown): Body => {
  const filled = typeof body === "object" && body !== null && !Array.isArray(body) ? { ...absent, ...body } : body
  const result = Schema.decodeUnknownResult(schema, { onExcessProperty: "error" })(filled)
  if (Result.isFailure(result)) throw new HttpRefusal(400, String(result.failure))
  return result.success
}
