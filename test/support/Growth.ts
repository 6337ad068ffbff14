import { expect } from "vitest"

/** Below this, the clock's resolution and garbage collection decide, not the input. */
const MEASURABLE_MILLIS = 4
const ROUNDS = 5
const DOUBLINGS = 3
/** Smaller sizes first: quadratic work would take minutes at the largest one. */
const STEPS = [4, 3, 2, 1, 0]
/** Twice the size may cost 2 × 1.3 the time: linear work in caches that become too small. Quadratic work costs 4. */
const FACTOR_MAX = 2.6

/** Returns the processor time that this thread needs for the fastest of several runs, in milliseconds. */
const costOf = (run: () => unknown): number => {
  let least = Number.POSITIVE_INFINITY
  for (let round = 0; round < ROUNDS; round++) {
    const start = process.threadCpuUsage()
    run()
    const { system, user } = process.threadCpuUsage(start)
    least = Math.min(least, (system + user) / 1_000)
  }
  return least
}

/** A function that reads input from a stranger. */
export interface Reader<Input> {
  /** Makes an input of about this size, in bytes. */
  readonly make: (sizeBytes: number) => Input
  readonly read: (input: Input) => unknown
  /** The size limit of the input that reaches the function. */
  readonly sizeMaxBytes: number
}

/** Fails if the processor time of `read` grows faster than the size of its input, up to the size limit. */
export const expectLinear = <Input>({ make, read, sizeMaxBytes }: Reader<Input>): void => {
  let last = Number.POSITIVE_INFINITY
  for (const step of STEPS) {
    const size = Math.floor(sizeMaxBytes / 2 ** (step * DOUBLINGS))
    const input = make(size)
    const cost = costOf(() => read(input))
    const factor = (cost / last) ** (1 / DOUBLINGS)
    expect(factor, `growth by doubling, up to ${size} bytes (${last} ms, then ${cost} ms)`).toBeLessThan(FACTOR_MAX)
    last = Math.max(cost, MEASURABLE_MILLIS)
  }
}

/** Like `expectLinear`, for a function that returns a promise and waits for nothing. */
export const expectLinearAsync = async <Input>(reader: {
  readonly make: (sizeBytes: number) => Input
  readonly read: (input: Input) => Promise<unknown>
  readonly sizeMaxBytes: number
}): Promise<void> => {
  let last = Number.POSITIVE_INFINITY
  for (const step of STEPS) {
    const size = Math.floor(reader.sizeMaxBytes / 2 ** (step * DOUBLINGS))
    const input = reader.make(size)
    let cost = Number.POSITIVE_INFINITY
    for (let round = 0; round < ROUNDS; round++) {
      const start = process.threadCpuUsage()
      await reader.read(input)
      const { system, user } = process.threadCpuUsage(start)
      cost = Math.min(cost, (system + user) / 1_000)
    }
    const factor = (cost / last) ** (1 / DOUBLINGS)
    expect(factor, `growth by doubling, up to ${size} bytes (${last} ms, then ${cost} ms)`).toBeLessThan(FACTOR_MAX)
    last = Math.max(cost, MEASURABLE_MILLIS)
  }
}
