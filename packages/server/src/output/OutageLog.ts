import { findStoreUnavailable } from "@agentos/core"
import { Cause, type Logger } from "effect"

const SECOND_MILLIS = 1_000

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
    timer = setTimeout(writeSummary, SECOND_MILLIS).unref()
  }

  return (entry) => {
    if (findStoreUnavailable(entry.cause) === undefined) return write(entry)
    failures++
    first ??= entry
    if (timer === undefined) writeSummary()
  }
}
