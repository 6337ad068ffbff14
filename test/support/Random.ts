/** Choices that one seed repeats. Timing is not repeated. */
export interface Random {
  /** From 0 up to, and without, `below`. */
  readonly integer: (below: number) => number
  readonly pick: <A>(items: ReadonlyArray<A>) => A
  readonly shuffle: <A>(items: ReadonlyArray<A>) => ReadonlyArray<A>
  /** An independent generator for one part of the work. */
  readonly fork: (part: number) => Random
}

/** The generator mulberry32. */
export const makeRandom = (seed: number): Random => {
  let state = seed >>> 0
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  const integer = (below: number): number => Math.floor(next() * below)
  return {
    integer,
    pick: (items) => items[integer(items.length)]!,
    shuffle: (items) =>
      items
        .map((item) => ({ item, at: next() }))
        .toSorted((a, b) => a.at - b.at)
        .map(({ item }) => item),
    fork: (part) => makeRandom(Math.imul(seed ^ 0x9e3779b9, part + 1))
  }
}

const DEFAULT_SEED = 1

/** Reads a seed: a whole number, `random` for another one each time, or the default. NaN for any other text. */
export const readSeed = (text: string | undefined): number => {
  if (text === undefined || text === "") return DEFAULT_SEED
  return text === "random" ? Math.floor(Math.random() * 2 ** 31) : /^\d+$/.test(text) ? Number(text) : Number.NaN
}

/** The seed of tests: TEST_SEED, read by `readSeed`. */
export const testSeed = (): number => {
  const seed = readSeed(process.env["TEST_SEED"])
  if (Number.isNaN(seed)) throw new Error("TEST_SEED must be a whole number or `random`.")
  return seed
}
