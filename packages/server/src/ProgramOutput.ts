import { ProviderError, Timestamp } from "@agentos/core"
import { Effect, Formatter, Logger, LogLevel, Metric, References } from "effect"
import { HttpServerError } from "effect/http"
import { setTimeout as sleep } from "node:timers/promises"
import { descriptorSink, LineWriter } from "./LineWriter.ts"

/** Which requests the log contains: all of them, those that fail and one in a hundred of the others, or none. */
export type AccessLog = "full" | "sampled" | "off"

export interface LogOptions {
  readonly accessLog?: AccessLog
  /** The number of this process among the workers of a server. Each line has it. */
  readonly worker?: number | undefined
}

const STANDARD_ERROR = 2
const SAMPLE_OF = 100
/** The first status that is a failure. */
const FAILURE = 400
/** The message of the line that each request has. */
const ACCESS = "request"
/** How long a program that ends waits for the reader of its log, in milliseconds. */
const DRAIN_TIMEOUT = 1_000

const droppedLines = Metric.counter("agentos_log_lines_dropped_total", {
  description: "Lines of the log that were dropped because its reader was too slow or had gone.",
  incremental: true
})

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
const accessFilter = (accessLog: AccessLog): ((status: unknown) => boolean) => {
  if (accessLog !== "sampled") return () => accessLog === "full"
  let successes = 0
  return (status) => (typeof status === "number" && status >= FAILURE) || successes++ % SAMPLE_OF === 0
}

/** Returns the only part of a message, or all of its parts. */
const contentOf = (message: unknown): unknown => (Array.isArray(message) && message.length === 1 ? message[0] : message)

const isPlain = (value: unknown): boolean =>
  typeof value === "string" || typeof value === "number" || typeof value === "boolean" || value === undefined

/**
 * Formats an entry as `Logger.formatJson` does. That follows values into objects, to redact secrets in them; an entry of plain
 * values, as each request has, has none, and takes a fraction of the time.
 */
export const formatEntry = (entry: Logger.Options<unknown>): string => {
  const { cause, date, fiber, logLevel, message } = entry
  const annotations = fiber.getRef(References.CurrentLogAnnotations)
  const content = contentOf(message)
  const isSimple =
    typeof content === "string" &&
    cause.reasons.length === 0 &&
    fiber.getRef(References.CurrentLogSpans).length === 0 &&
    Object.values(annotations).every(isPlain)
  if (!isSimple) return Formatter.formatJson(Logger.formatStructured.log(entry))
  const timestamp = Timestamp.toIso(Timestamp.fromMillis(date.getTime()))
  const head = `{"message":${JSON.stringify(content)},"level":"${logLevel.toUpperCase()}","timestamp":"${timestamp}"`
  return `${head},"annotations":${JSON.stringify(annotations)},"spans":{},"fiberId":"#${fiber.id}"}`
}

/**
 * The log of every program here: one line of JSON per entry, on standard error. Standard output is for results. Entries
 * below a warning, of which each request has one, are written a few milliseconds later, with others. Only lines about
 * requests are dropped when the reader is slow, unless 4 MiB of others wait.
 */
export const logOf = ({ accessLog = "full", worker }: LogOptions) => {
  const isLogged = accessFilter(accessLog)
  const start = worker === undefined ? "{" : `{"worker":${worker},`
  return Logger.layer([
    Logger.make((entry) => {
      const { fiber, logLevel, message } = entry
      const isRequest = logLevel === "Info" && contentOf(message) === ACCESS
      if (isRequest && !isLogged(fiber.getRef(References.CurrentLogAnnotations)["status"])) return
      lines.append(start + formatEntry(entry).slice(1), isRequest)
      if (LogLevel.isGreaterThanOrEqualTo(logLevel, "Warn")) lines.flush()
    })
  ])
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
