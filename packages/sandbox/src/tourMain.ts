import { useCompileCache } from "./supervisor/CompileCache.ts"

useCompileCache()
const { tourCommand } = await import("./tour/Tour.ts")
process.exit(await tourCommand(process.argv.slice(2)))
