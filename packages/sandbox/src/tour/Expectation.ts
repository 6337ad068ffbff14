/** A value differs from the expected one. */
export class ExpectationFailed extends Error {
  constructor(expected: string, actual: string) {
    super(`expected ${expected}, got ${actual}`)
  }
}

export const expectEqual = (subject: string, actual: unknown, expected: unknown): void => {
  if (actual !== expected) throw new ExpectationFailed(`${subject} ${String(expected)}`, String(actual))
}

/** Rejects if the result takes longer than the given time. */
export const within = async <A>(millis: number, subject: string, result: Promise<A>): Promise<A> => {
  let timer: NodeJS.Timeout | undefined
  const timeout = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new ExpectationFailed(subject, `nothing within ${millis / 1_000} s`)), millis)
  })
  try {
    return await Promise.race([result, timeout])
  } finally {
    clearTimeout(timer)
  }
}
