const VARIABLE = "AGENTOS_SANDBOX_SERVER_MODULE"

let starting: Promise<unknown> = Promise.resolve()

/**
 * Starts something whose servers run this module in place of the real server's. The module is named by a variable of
 * the environment, so what is started in this way is started one after the other.
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
