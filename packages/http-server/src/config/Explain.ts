import { ProviderError } from "@agentos/core"
import { HttpServerError } from "effect/http"

/** What went wrong in one line, or in the lines of whoever found more than one thing wrong; of a provider also why. */
export const explain = (error: unknown): string => {
  if (error instanceof ProviderError && error.cause instanceof Error) {
    return `${error.message} ${error.cause.message.replaceAll(/\s+/g, " ")}`
  }
  // It has no words of its own.
  if (error instanceof HttpServerError.ServeError) return `can't serve: ${explain(error.cause)}`
  return error instanceof Error ? error.message : String(error)
}
