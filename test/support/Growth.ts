import { expect } from "vitest"

/** Below this, the clock's resolution, compilation and garbage collection decide, not the input. */
const MEASURABLE_MILLIS = 8
const ROUNDS = 5
const DOUBLINGS = 3
/** Smaller sizes first: quadratic work would take minutes at the largest one. */
const STEPS = [4, 3, 2, 1, 0]
/**
 * Linear work costs 2 with each doubling, quadratic work 4. Caches that become too small, collections of garbage and memory
 * that a host gives slowly explain up to 1.4 times the linear cost.
 */
const FACTOR_MAX = 2 * 1.5

/** A function that reads input from a stranger. */
interface Reader<Input, Result> {
  /** Makes an input of about this size, in bytes. */
  readonly make: (sizeBytes: number) => Input
  readonly read: (input: Input) => Result
  /** The size limit of the input that reaches the function. */
  readonly sizeMaxBytes: number
}

const sizesOf = ({ sizeMaxBytes }: Pick<Reader<unknown, unknown>, "sizeMaxBytes">): ReadonlyArray<number> =>
  STEPS.map((step) => Math.floor(sizeMaxBytes / 2 ** (step * DOUBLINGS)))

/** Returns the time that this thread has used the processor, in milliseconds. */
const used = (): number => {
  const { system, user } = process.threadCpuUsage()
  return (system + user) / 1_000
}

/** Returns the function that compares the cost of each size, the least of several, with that of the size before it. */
const comparing = () => {
  let last = Number.POSITIVE_INFINITY
  return (sizeBytes: number, costs: ReadonlyArray<number>): void => {
    const cost = Math.min(...costs)
    const factor = (cost / last) ** (1 / DOUBLINGS)
    expect(factor, `growth by doubling, up to ${sizeBytes} bytes (${last} ms, then ${cost} ms)`).toBeLessThan(
      FACTOR_MAX
    )
    last = Math.max(cost, MEASURABLE_MILLIS)
  }
}

/** Fails if the processor time of `read` grows faster than the size of its input, up to the size limit. */
export const expectLinear = <Input>(reader: Reader<Input, unknown>): void => {
  const compare = comparing()
  for (const size of sizesOf(reader)) {
    const input = reader.make(size)
    const costs = Array.from({ length: ROUNDS }, () => {
      const start = used()
      reader.read(input)
      return used() - start
    })
    compare(size, costs)
  }
}

/** Like `expectLinear`, for a function that returns a promise and waits for nothing. */
export const expectLinearAsync = async <Input>(reader: Reader<Input, Promise<unknown>>): Promise<void> => {
  const compare = comparing()
  for (const size of sizesOf(reader)) {
    const input = reader.make(size)
    const costs: Array<number> = []
    for (let round = 0; round < ROUNDS; round++) {
      const start = used()
      await reader.read(input)
      costs.push(used() - start)
    }
    compare(size, costs)
  }
}
