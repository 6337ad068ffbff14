import { ConfigurationInvalid } from "@agentos/core"
import { Effect } from "effect"
import { read, type ServerConfig } from "../config/ServerConfig.ts"
import { explain } from "../output/ProgramOutput.ts"
import { QUOTA_VARIABLES } from "../variable/QuotaVariables.ts"
import { ALL_VARIABLES, type Environment, type Variable } from "../variable/Variables.ts"

const RATE_LIMIT: Variable = "AGENTOS_RATE_LIMIT_PER_MINUTE"

/** Replaces the limits in place: requests, mails and calls read them when they need them. */
const replaceLimits = (used: ServerConfig, { quotas, rateLimit }: ServerConfig): void => {
  Object.assign(used.quotas.calls, quotas.calls)
  Object.assign(used.quotas.mail, quotas.mail)
  Object.assign(used.quotas.retention, quotas.retention)
  if (used.rateLimit !== null) Object.assign(used.rateLimit, rateLimit)
}

/** Returns whether a running server can take a change of the variable. A server without a rate limit counts nothing. */
const isLimit = (name: Variable, { rateLimit: used }: ServerConfig, { rateLimit: next }: ServerConfig): boolean =>
  name in QUOTA_VARIABLES || (name === RATE_LIMIT && used !== null && next !== null)

/**
 * Reads the settings again on SIGHUP, until its scope closes, and replaces the limits of `used` in place. Settings that are
 * not valid change nothing.
 */
export const followLimits = Effect.fnUntraced(function* (
  used: ServerConfig,
  environment: Environment,
  reread: () => Environment
) {
  const atStart = environment
  let current = environment
  const reload = Effect.gen(function* () {
    yield* Effect.logInfo("reading the settings again")
    const found = yield* Effect.try({
      try: reread,
      catch: (error) => new ConfigurationInvalid({ issues: [explain(error)] })
    })
    const next = yield* read(found)
    const differing = (from: Environment) => ALL_VARIABLES.flatMap(([name]) => (from[name] === found[name] ? [] : name))
    const changed = differing(current).filter((name) => isLimit(name, used, next))
    const pending = differing(atStart).filter((name) => !isLimit(name, used, next))
    replaceLimits(used, next)
    current = found
    yield* Effect.annotateLogs(Effect.logInfo("the limits were replaced"), { changed: changed.join(", ") })
    if (pending.length > 0)
      yield* Effect.logWarning(`these changed settings need a restart of the server: ${pending.join(", ")}`)
  }).pipe(
    Effect.catch((error) => Effect.logError(`the limits stay, because the settings are not valid: ${explain(error)}`))
  )

  const run = Effect.runForkWith(yield* Effect.context<never>())
  const onSignal = () => void run(reload)
  yield* Effect.acquireRelease(
    Effect.sync(() => process.on("SIGHUP", onSignal)),
    () => Effect.sync(() => process.off("SIGHUP", onSignal))
  )
})
