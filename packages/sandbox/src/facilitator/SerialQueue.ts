/** Runs tasks of one key one after the other, in the order they came; tasks of different keys side by side. */
export interface SerialQueue {
  /** Answers what the task answers. A task that fails doesn't keep the next one from running. */
  readonly run: <A>(key: string, task: () => Promise<A>) => Promise<A>
}

/** An empty queue. It remembers a key only while there is work for it. */
export const makeSerialQueue = (): SerialQueue => {
  const last = new Map<string, Promise<unknown>>()
  return {
    run: async (key, task) => {
      const before = last.get(key)
      const result = before === undefined ? task() : before.then(task, task)
      last.set(key, result)
      try {
        return await result
      } finally {
        if (last.get(key) === result) last.delete(key)
      }
    }
  }
}
