import { enableCompileCache } from "node:module"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"

/** False if this package is installed, and its sources are built. */
export const isInWorkspace = import.meta.url.endsWith(".ts")

/** The commands that run this package, as a user types them. */
export const START_COMMAND = isInWorkspace ? "npx -y pnpm@12 start" : "npx agentos-sandbox"
export const TOUR_COMMAND = isInWorkspace ? "npx -y pnpm@12 tour" : "npx agentos-sandbox tour"

/** The directory of Node's compile cache, which saves a third of the start time of a process. */
export const compileCacheDir = isInWorkspace
  ? fileURLToPath(new URL("../../../../node_modules/.cache/compile", import.meta.url))
  : join(tmpdir(), "node-compile-cache")

/** Caches the modules that this process imports after the call. */
export const useCompileCache = (): void => void enableCompileCache(process.env["NODE_COMPILE_CACHE"] ?? compileCacheDir)
