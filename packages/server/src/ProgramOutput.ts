import { ProviderError } from "@agentos/core"
import { Logger, LogLevel } from "effect"
import { HttpServerError } from "effect/http"
import { LineBatch } from "./LineBatch.ts"

const lines = new LineBatch((text) => void process.stderr.write(text))
process.on("exit", lines.flush)

/**
 * The log of every program here: one line of JSON per entry, on standard error. Standard output is for results. Entries
 * below a warning, of which each request has one, are written a few milliseconds later, with others.
 */
export const log = Logger.layer([
  Logger.make((entry) => {
    lines.append(Logger.formatJson.log(entry))
    if (LogLevel.isGreaterThanOrEqualTo(entry.logLevel, "Warn")) lines.flush()
  })
])

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
