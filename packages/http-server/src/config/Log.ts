import { Logger } from "effect"

/** The log of every program here: one line of JSON per entry, on standard error. Standard output is for results. */
export const log = Logger.layer([Logger.withConsoleError(Logger.formatJson)])
