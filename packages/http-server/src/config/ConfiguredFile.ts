import { Effect } from "effect"
import { readFile } from "node:fs/promises"
import { ConfigurationInvalid } from "./ServerConfig.ts"

const codeOf = (error: unknown): string =>
  error instanceof Error && "code" in error && typeof error.code === "string" ? ` (${error.code})` : ""

/** Reads the file that a variable names. */
export const readConfiguredFile = (variable: string, path: string): Effect.Effect<string, ConfigurationInvalid> =>
  Effect.tryPromise({
    try: () => readFile(path, "utf8"),
    catch: (error) => new ConfigurationInvalid({ issues: [`${variable}: cannot read ${path}${codeOf(error)}`] })
  })
