import { keepCompiled } from "./supervisor/CompileCache.ts"

keepCompiled()
const { startCommand } = await import("./supervisor/StartCommand.ts")
process.exit(await startCommand(process.argv.slice(2)))
