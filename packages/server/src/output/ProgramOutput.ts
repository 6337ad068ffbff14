import { findStoreUnavailable, ProviderError, Timestamp } from "@agentos/core"
import type { AccessEntry, AccessWriter } from "@agentos/http-server"
import { Cause, Effect, Logger, LogLevel, Metric } from "effect"
import { HttpServerError } from "effect/http"
import { setTimeout as sleep } from "node:timers/promises"
import { descriptorSink, LineWriter } from "./LineWriter.ts"

/** Which requests the log contains: all of them, those that fail and one in a hundred of the others, or none. */
export type AccessLogMode = "full" | "sampled" | "off"

export interface LogOptions {
  readonly accessLog?: AccessLogMode
  /** The number of this process among the workers of a server. Each line has it. */
  readonly worker?: number | undefined
}

const STANDARD_ERROR = 2
const SAMPLE_OF = 100
/** The first status that is a failure. */
const FAILURE = 400
/** How long a program that ends waits for the reader of its log, in milliseconds. */
const DRAIN_TIMEOUT = 1_000

const droppedLines = Metric.counter("agentos_log_lines_dropped_total", {
  description: "Lines of the log that were dropped because its reader was too slow or had gone.",
  incremental: true
})

// Reported from the start, so that a first increase is seen.
Effect.runSync(Metric.update(droppedLines, 0))

const reportDropped = (lines: number): void =>
  Effect.runSync(
    Effect.andThen(
      Metric.update(droppedLines, lines),
      Effect.annotateLogs(Effect.logWarning("the reader of the log is too slow: lines were dropped"), { lines })
    ).pipe(Effect.provide(log))
  )

const lines = new LineWriter(descriptorSink(STANDARD_ERROR), reportDropped)
process.on("exit", lines.writeRest)

/** Waits until the log is written, or its reader has taken nothing for a second. */
export const logWritten = (): Promise<void> =>
  Promise.race([lines.drained(), sleep(DRAIN_TIMEOUT, undefined, { ref: false })])

/** Writes complete lines, each with its line end except the last, to the log. */
export const relayLines = (text: string): Promise<void> => {
  lines.append(text)
  return lines.drained()
}

/** Returns a function that says whether a line about a request with this status is written. */
const accessFilter = (accessLog: AccessLogMode): ((status: number) => boolean) => {
  if (accessLog !== "sampled") return () => accessLog === "full"
  let successes = 0
  return (status) => status >= FAILURE || successes++ % SAMPLE_OF === 0
}

/** Formats the entry of a request as `Logger.formatJson` would, in a fraction of the time. */
export const accessLine = (entry: AccessEntry, at: Timestamp.Timestamp, fiberId: number): string =>
  `{"message":"request","level":"INFO","timestamp":"${Timestamp.toIso(at)}","annotations":${JSON.stringify(entry)},"spans":{},"fiberId":"#${fiberId}"}`

/** Adds the number of the worker, if any, to a line. */
const lineOf = ({ worker }: LogOptions): ((line: string) => string) =>
  worker === undefined ? (line) => line : (line) => `{"worker":${worker},${line.slice(1)}`

const OUTAGE_SUMMARY_MILLIS = 1_000

/**
 * Wraps the writer of a log. While the database is not available, everything that needs it fails. The first of these entries
 * is written at once, since the program may end; those after it are counted, and one line for each second says how many
 * there were, with the reason of the first.
 */
export const summingOutages = (
  write: (entry: Logger.Options<unknown>) => void
): ((entry: Logger.Options<unknown>) => void) => {
  let failures = 0
  let first: Logger.Options<unknown> | undefined
  let timer: ReturnType<typeof setTimeout> | undefined

  const writeSummary = () => {
    timer = undefined
    if (first === undefined) return
    const reason = findStoreUnavailable(first.cause)?.message ?? ""
    const attempts = failures === 1 ? "1 attempt" : `${failures} attempts`
    const message = [`${reason}; ${attempts} failed, the first: ${String(first.message)}`]
    write({ ...first, message, cause: Cause.empty })
    failures = 0
    first = undefined
    timer = setTimeout(writeSummary, OUTAGE_SUMMARY_MILLIS).unref()
  }

  return (entry) => {
    if (findStoreUnavailable(entry.cause) === undefined) return write(entry)
    failures++
    first ??= entry
    if (timer === undefined) writeSummary()
  }
}

/**
 * The log of every program here: one line of JSON per entry, on standard error. Standard output is for results. Entries
 * below a warning are written a few milliseconds later, with others.
 */
export const logOf = (options: LogOptions) => {
  const toLine = lineOf(options)
  const write = (entry: Logger.Options<unknown>) => {
    lines.append(toLine(Logger.formatJson.log(entry)))
    if (LogLevel.isGreaterThanOrEqualTo(entry.logLevel, "Warn")) lines.flush()
  }
  return Logger.layer([Logger.make(summingOutages(write))])
}

/**
 * Writes the line of each request to the same log. Only these lines are dropped when the reader is slow, unless 4 MiB of others
 * wait.
 */
export const accessWriter = (options: LogOptions): AccessWriter => {
  const isLogged = accessFilter(options.accessLog ?? "full")
  const toLine = lineOf(options)
  return (entry, at, { id }) => {
    if (isLogged(entry.status)) lines.append(toLine(accessLine(entry, at, id)), true)
  }
}

/** The log of a program that runs alone and logs every request. */
export const log = logOf({})

/**
 * Describes an error in one line, or in several if it lists several problems. For a provider error, includes the cause.
 */
export const explain = (error: unknown): string => {
  if (error instanceof ProviderError && error.cause instanceof Error) {
    return `${error.message} ${error.cause.message.replaceAll(/\s+/g, " ")}`
  }
  // A ServeError has no message of its own.
  if (error instanceof HttpServerError.ServeError) return `cannot listen: ${explain(error.cause)}`
  return error instanceof Error ? error.message : String(error)
}
