import { keepCompiled } from "./supervisor/CompileCache.ts"

keepCompiled()
const { tourCommand } = await import("./tour/TourCommand.ts")
process.exit(await tourCommand(process.argv.slice(2)))
