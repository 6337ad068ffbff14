import { isAbsolute, relative } from "node:path"
import { ChildFailed } from "./ChildProcess.ts"

/** A start that cannot succeed. The message is complete for the user. */
export class StartError extends Error {}

/** Describes an error for the user, without a stack trace where it would not help. */
export const describeError = (error: unknown): string => {
  if (error instanceof ChildFailed) {
    const tail = error.log.tail()
    return tail === "" ? `${error.message}.` : `${error.message}. Last lines of ${shortPath(error.log.path)}:\n${tail}`
  }
  if (error instanceof StartError || (error instanceof Error && "syscall" in error)) return error.message
  return error instanceof Error ? (error.stack ?? error.message) : String(error)
}

/** Returns a path relative to the working directory if it is inside it. */
export const shortPath = (path: string): string => {
  const short = relative(process.cwd(), path)
  return short === "" || short.startsWith("..") || isAbsolute(short) ? path : short
}
