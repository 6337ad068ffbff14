/** Choices that one seed repeats: which server, in which order, after how long. What the machine does between them is its own. */
export interface Random {
  /** From 0 up to, and without, `below`. */
  readonly integer: (below: number) => number
  readonly pick: <A>(items: ReadonlyArray<A>) => A
  readonly shuffle: <A>(items: ReadonlyArray<A>) => ReadonlyArray<A>
  /** A source of its own for a part of the work, which goes on undisturbed by the others. */
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
