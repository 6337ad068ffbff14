import type { FlagSpec } from "./Command.ts"

/** What every command takes. */
export const GLOBAL_FLAGS = [
  { name: "help", short: "h", type: "boolean", summary: "Show help for the command." },
  { name: "json", type: "boolean", summary: "Print one JSON document for programs; errors too." },
  {
    name: "profile",
    type: "text",
    value: "NAME",
    summary: "Use this profile.",
    env: "AGENTOS_PROFILE",
    completes: "profile"
  },
  { name: "base-url", type: "text", value: "URL", summary: "The server to talk to.", env: "AGENTOS_BASE_URL" },
  { name: "quiet", short: "q", type: "boolean", summary: "Say nothing on standard error but errors and warnings." },
  { name: "no-color", type: "boolean", summary: "Use no colours.", env: "NO_COLOR" },
  { name: "version", short: "V", type: "boolean", summary: "Show the version." }
] as const satisfies ReadonlyArray<FlagSpec>

/** The global flags of a command line. */
export interface GlobalValues {
  readonly help: boolean
  readonly json: boolean
  readonly profile: string | undefined
  readonly "base-url": string | undefined
  readonly quiet: boolean
  readonly "no-color": boolean
  readonly version: boolean
}
