const VARIABLE = "AGENTOS_SANDBOX_SERVER_MODULE"

let starting: Promise<unknown> = Promise.resolve()

/**
 * Calls `start` such that its servers run this module instead of the real server's. Concurrent calls run one after the
 * other, because an environment variable names the module.
 */
export const withServerModule = <A>(path: string, start: () => Promise<A>): Promise<A> => {
  const started = starting.then(async () => {
    const before = process.env[VARIABLE]
    process.env[VARIABLE] = path
    try {
      return await start()
    } finally {
      if (before === undefined) delete process.env[VARIABLE]
      else process.env[VARIABLE] = before
    }
  })
  starting = started.catch(() => undefined)
  return started
}
