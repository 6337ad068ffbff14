import * as Schema from "effect/Schema"
import { decodeJson, type HttpResult, ok, readJson, type Routes } from "./JsonServer.ts"

/**
 * The way in which an operation fails.
 * - `before`: fails temporarily without any effect: HTTP 500, or 451 at the end of DATA.
 * - `after`: takes effect (a settlement is confirmed, a mail is stored), then the connection closes without an answer.
 * - `reject`: fails permanently with a regular error response, without any effect.
 * - `hang`: takes effect, and no answer is sent until the client gives up.
 */
export const FaultMode = Schema.Literals(["before", "after", "reject", "hang"])
export type FaultMode = typeof FaultMode.Type

/** Makes the next `times` requests of one operation fail. */
export interface Fault<Operation extends string> {
  readonly operation: Operation
  readonly mode: FaultMode
  readonly times: number
  /**
   * Limits the fault to requests for one subject. At the facilitator this is an authorization's nonce, at the relay a
   * recipient. At the carrier it is a phone number, the area code of a search or purchase, the sid of a call, or a call's
   * destination with one time limit: `+14155550150 360`.
   */
  readonly only?: string
}

const faultSchema = <const Operation extends string>(operations: ReadonlyArray<Operation>) =>
  Schema.Struct({
    operation: Schema.Literals(operations),
    mode: FaultMode,
    times: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 1_000 })),
    only: Schema.optionalKey(Schema.NonEmptyString)
  })

/** The faults that are still to be injected. */
export type FaultPlan<Operation extends string> = ReturnType<typeof makeFaultPlan<Operation>>

export const makeFaultPlan = <Operation extends string>() => {
  let faults: ReadonlyArray<Fault<Operation>> = []
  return {
    add: (fault: Fault<Operation>): void => {
      faults = [...faults, fault]
    },
    /**
     * Returns the mode in which the current request fails, and uses up one time of that fault. It is the oldest fault of
     * the operation whose `only` is absent or among the request's subjects. Case does not matter.
     */
    take: (operation: Operation, subjects: ReadonlyArray<string>): FaultMode | undefined => {
      const lowerCase = new Set(subjects.map((subject) => subject.toLowerCase()))
      const next = faults.find(
        ({ only, operation: failing }) =>
          failing === operation && (only === undefined || lowerCase.has(only.toLowerCase()))
      )
      if (next === undefined) return undefined
      faults = faults
        .map((fault) => (fault === next ? { ...fault, times: fault.times - 1 } : fault))
        .filter((fault) => fault.times > 0)
      return next.mode
    },
    /** Returns the faults, oldest first, with their remaining times. */
    list: () => faults,
    clear: (): void => {
      faults = []
    }
  }
}

/**
 * The routes that control a plan: POST /sandbox/faults `{operation, mode, times, only}` adds a fault (`times` defaults to
 * 1, `only` is optional), GET lists the faults, DELETE removes them. Each returns `{faults}`.
 */
export const faultRoutes = <Operation extends string>(
  plan: FaultPlan<Operation>,
  operations: ReadonlyArray<Operation>
): Routes => {
  const schema = faultSchema(operations)
  const list = (): HttpResult => ok({ faults: plan.list() })
  return {
    "/sandbox/faults": {
      GET: async () => list(),
      POST: async (request) => {
        plan.add(decodeJson(schema, await readJson(request), { times: 1 }))
        return list()
      },
      DELETE: async () => {
        plan.clear()
        return list()
      }
    }
  }
}
