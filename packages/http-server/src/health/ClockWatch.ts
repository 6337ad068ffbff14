import { Clock, Effect, Metric, Schedule } from "effect"
import { ChainClocks, DatabaseClock, type ReferenceClock } from "../ReferenceClocks.ts"

const COMPARE_EVERY = "15 seconds"
const ANSWER_WITHIN = "10 seconds"
const WARN_MILLIS = 5_000
/** Payments are valid for about as many minutes; a difference of this size makes honest ones look expired or early. */
const UNREADY_MILLIS = 30_000

/**
 * Returns by how many milliseconds this server's clock is ahead of another, at least; negative if it is behind, and 0 if
 * they may agree, and undefined if it does not answer. The time that the answer took counts for neither.
 */
export const clockOffset = ({ read }: ReferenceClock) =>
  Effect.gen(function* () {
    const before = yield* Clock.currentTimeMillis
    const { earliest, latest } = yield* read
    const after = yield* Clock.currentTimeMillis
    if (after < earliest) return after - earliest
    return latest !== undefined && before > latest ? before - latest : 0
  }).pipe(
    Effect.timeout(ANSWER_WITHIN),
    // A store or chain that does not answer is reported elsewhere, and says nothing about clocks.
    Effect.catchCause(() => Effect.succeed(undefined))
  )

/** Judges such an offset, of any sign. */
export const clockLevel = (offset: number): "right" | "warned" | "wrong" => {
  const size = Math.abs(offset)
  return size >= UNREADY_MILLIS ? "wrong" : size >= WARN_MILLIS ? "warned" : "right"
}

const describe = (offset: number): string => `${Math.abs(offset) / 1_000} s ${offset > 0 ? "ahead of" : "behind"}`

/**
 * Compares this server's clock with the others, now and every 15 seconds until the scope closes. Returns whether it is
 * right: less than 30 seconds from each that answered. Each time the answer changes, the log has a line.
 */
export const watchClock = Effect.gen(function* () {
  const database = yield* DatabaseClock
  const clocks = [...(database === undefined ? [] : [database]), ...(yield* ChainClocks)]
  const levels = new Map<string, ReturnType<typeof clockLevel>>()

  const judge = Effect.fnUntraced(function* (clock: ReferenceClock) {
    const offset = yield* clockOffset(clock)
    if (offset === undefined) return
    const { source } = clock
    const gauge = Metric.gauge("agentos_clock_offset_seconds", {
      description: "Seconds by which the clock of this server is ahead of another; negative if behind.",
      attributes: { source }
    })
    yield* Metric.update(gauge, offset / 1_000)
    const level = clockLevel(offset)
    const before = levels.get(source) ?? "right"
    levels.set(source, level)
    if (level === before) return
    const where = `the clock of this server is ${describe(offset)} that of ${source}`
    if (level === "wrong")
      return yield* Effect.logError(`${where}: it is not ready, and takes no payments. Synchronize the clock (NTP)`)
    if (level === "warned") return yield* Effect.logWarning(`${where}. Synchronize the clock (NTP)`)
    return yield* Effect.logInfo(`the clock of this server agrees with that of ${source} again`)
  })
  const round = Effect.forEach(clocks, judge, { concurrency: "unbounded", discard: true })
  if (clocks.length > 0) yield* Effect.forkScoped(Effect.repeat(round, Schedule.spaced(COMPARE_EVERY)))
  return Effect.sync(() => ![...levels.values()].includes("wrong"))
})
