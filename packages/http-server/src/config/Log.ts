import { Logger } from "effect"

/** The log of every program here: a line of JSON each, on standard error. Standard output is for what a program is asked for. */
export const log = Logger.layer([Logger.withConsoleError(Logger.formatJson)])
