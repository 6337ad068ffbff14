import { useCompileCache } from "./supervisor/CompileCache.ts"

useCompileCache()
const { startCommand } = await import("./supervisor/StartCommand.ts")
process.exit(await startCommand(process.argv.slice(2)))
