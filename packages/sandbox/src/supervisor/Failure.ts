import { ChildFailed } from "./ChildProcess.ts"
import { shortPath } from "./ShortPath.ts"

/** A start that can't succeed. Its message is all that a person needs to know. */
export class StartRefused extends Error {}

/** What went wrong, for people: without a stack trace where one would help nobody. */
export const explain = (error: unknown): string => {
  if (error instanceof ChildFailed) return describeFailure(error)
  if (error instanceof StartRefused || (error instanceof Error && "syscall" in error)) return error.message
  return error instanceof Error ? (error.stack ?? error.message) : String(error)
}

const describeFailure = ({ log, message }: ChildFailed): string => {
  const tail = log.tail()
  return `${message}.${tail === "" ? "" : ` Its log (${shortPath(log.path)}) ends so:\n${tail}`}`
}
