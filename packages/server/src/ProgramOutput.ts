import { ProviderError } from "@agentos/core"
import { Logger } from "effect"
import { HttpServerError } from "effect/http"

/** The log of every program here: one line of JSON per entry, on standard error. Standard output is for results. */
export const log = Logger.layer([Logger.withConsoleError(Logger.formatJson)])

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
