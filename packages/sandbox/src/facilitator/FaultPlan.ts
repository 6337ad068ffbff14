import { Schema } from "effect"

export const FaultOperation = Schema.Literals(["verify", "settle"])
export type FaultOperation = typeof FaultOperation.Type

/**
 * How an operation is made to fail.
 * - `before`: HTTP 500, with nothing done.
 * - `after`: it is done (a settlement is confirmed on the chain), and the connection dies without an answer.
 * - `reject`: refused, by an answer of the usual shape, with nothing done.
 * - `hang`: it is done, and no answer comes until the client gives up.
 */
export const FaultMode = Schema.Literals(["before", "after", "reject", "hang"])
export type FaultMode = typeof FaultMode.Type

/** An order to let the next `times` requests of one operation fail. */
export const Fault = Schema.Struct({
  operation: FaultOperation,
  mode: FaultMode,
  times: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 1_000 }))
})
export type Fault = typeof Fault.Type

/** The faults that are still to come. */
export interface FaultPlan {
  /** Puts a fault behind those already planned. */
  readonly add: (fault: Fault) => void
  /** How the request at hand is to fail, if at all: the oldest fault of its operation, used up by one. */
  readonly take: (operation: FaultOperation) => FaultMode | undefined
  /** Oldest first, each with the times it has left. */
  readonly list: () => ReadonlyArray<Fault>
  readonly clear: () => void
}

/** A plan without faults. */
export const makeFaultPlan = (): FaultPlan => {
  let faults: ReadonlyArray<Fault> = []
  return {
    add: (fault) => {
      faults = [...faults, fault]
    },
    take: (operation) => {
      const next = faults.find((fault) => fault.operation === operation)
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
