import { readFileSync } from "node:fs"

const manifest = readFileSync(new URL("../package.json", import.meta.url), "utf8")

/** The version in package.json. The published file contains it. */
export const VERSION: string = (JSON.parse(manifest) as { readonly version: string }).version

/** The oldest major version of Node that has all that agentctl needs, such as WebSocket. */
export const OLDEST_NODE: number = 22

/** False in the published file. */
export const RUNS_FROM_SOURCES: boolean = true
