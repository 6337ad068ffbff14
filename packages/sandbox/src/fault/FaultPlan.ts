import * as Schema from "effect/Schema"

/**
 * How an operation is made to fail.
 * - `before`: a passing failure, with nothing done: HTTP 500, or 451 at the end of DATA.
 * - `after`: it is done (a settlement is confirmed on the chain, a mail is kept), and the connection dies without an answer.
 * - `reject`: refused for good, by an answer of the usual shape, with nothing done.
 * - `hang`: it is done, and no answer comes until the client gives up.
 */
export const FaultMode = Schema.Literals(["before", "after", "reject", "hang"])
export type FaultMode = typeof FaultMode.Type

/** An order to let the next `times` requests of one operation fail. */
export interface Fault<Operation extends string> {
  readonly operation: Operation
  readonly mode: FaultMode
  readonly times: number
  /**
   * Only requests about this one: an authorization's nonce at the facilitator, a recipient at the relay; at the carrier
   * a number, the area code of one that is searched or bought, the sid of a call, or one limit of the call to somebody:
   * `+14155550150 360`.
   */
  readonly only?: string
}

/** What a fault looks like from outside, for a server that can fail in these operations. */
export const faultSchema = <const Operation extends string>(operations: ReadonlyArray<Operation>) =>
  Schema.Struct({
    operation: Schema.Literals(operations),
    mode: FaultMode,
    times: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 1_000 })),
    only: Schema.optionalKey(Schema.NonEmptyString)
  })

/** The faults that are still to come. */
export interface FaultPlan<Operation extends string> {
  /** Puts a fault behind those already planned. */
  readonly add: (fault: Fault<Operation>) => void
  /**
   * How the request at hand is to fail, if at all: the oldest fault of its operation that is not only for others,
   * used up by one. `about` is what the request is about; its case does not matter.
   */
  readonly take: (operation: Operation, about: ReadonlyArray<string>) => FaultMode | undefined
  /** Oldest first, each with the times it has left. */
  readonly list: () => ReadonlyArray<Fault<Operation>>
  readonly clear: () => void
}

/** A plan without faults. */
export const makeFaultPlan = <Operation extends string>(): FaultPlan<Operation> => {
  let faults: ReadonlyArray<Fault<Operation>> = []
  return {
    add: (fault) => {
      faults = [...faults, fault]
    },
    take: (operation, about) => {
      const meant = new Set(about.map((name) => name.toLowerCase()))
      const next = faults.find(
        (fault) => fault.operation === operation && (fault.only === undefined || meant.has(fault.only.toLowerCase()))
      )
      if (next === undefined) return undefined
      faults = faults
        .map((fault) => (fault === next ? { ...fault, times: fault.times - 1 } : fault))
        .filter((fault) => fault.times > 0)
      return next.mode
    },
    list: () => faults,
    clear: () => {
      faults = []
    }
  }
}
