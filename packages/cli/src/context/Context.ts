import type { Output } from "@agentos/node/command-line"
import type { Host } from "../host/Host.ts"
import type { GlobalValues } from "./Flags.ts"

/** The environment in which a handler runs. */
export interface Context {
  readonly host: Host
  readonly output: Output
  readonly globals: GlobalValues
}
