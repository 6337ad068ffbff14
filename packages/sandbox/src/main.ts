#!/usr/bin/env node
import { useCompileCache } from "./supervisor/Installation.ts"

useCompileCache()
const [command, ...rest] = process.argv.slice(2)
if (command === "tour") {
  const { tourCommand } = await import("./tour/Tour.ts")
  process.exit(await tourCommand(rest))
}
const { startCommand } = await import("./supervisor/StartCommand.ts")
process.exit(await startCommand(process.argv.slice(2)))
