const AT_ONCE = 8

/** Maps items with a limited number of calls at a time. */
export const inTurns = async <A, B>(
  items: ReadonlyArray<A>,
  work: (item: A, index: number) => Promise<B>,
  atOnce: number = AT_ONCE
): Promise<ReadonlyArray<B>> => {
  const results: Array<B> = []
  const waiting = items.entries()
  const worker = async () => {
    for (const [index, item] of waiting) results[index] = await work(item, index)
  }
  await Promise.all(Array.from({ length: Math.min(atOnce, items.length) }, worker))
  return results
}
