import { Effect } from "effect"
import { readFile } from "node:fs/promises"
import { ConfigurationInvalid } from "./ServerConfig.ts"

/** Reads the file that a variable names. */
export const readConfiguredFile = (variable: string, path: string): Effect.Effect<string, ConfigurationInvalid> =>
  Effect.tryPromise({
    try: () => readFile(path, "utf8"),
    catch: () => new ConfigurationInvalid({ issues: [`${variable}: ${path} can't be read`] })
  })
