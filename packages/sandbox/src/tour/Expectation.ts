/** Something is not as it should be. */
export class Unexpected extends Error {
  constructor(expected: string, seen: string) {
    super(`expected ${expected}, saw ${seen}`)
  }
}

/** Fails unless a value is what it should be. */
export const expectEqual = (what: string, seen: unknown, expected: unknown): void => {
  if (seen !== expected) throw new Unexpected(`${what} ${String(expected)}`, String(seen))
}

/** The result, unless it takes longer than it may. */
export const within = async <A>(millis: number, what: string, result: Promise<A>): Promise<A> => {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Unexpected(what, `nothing for ${millis / 1_000} s`)), millis)
  })
  try {
    return await Promise.race([result, late])
  } finally {
    clearTimeout(timer)
  }
}
