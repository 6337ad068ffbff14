import { launcherEnded } from "../../src/supervisor/Launchers.ts"

/** Prints its pid, and exits with 0 when its launcher has ended. */
const ended = launcherEnded(new AbortController().signal)
console.log(process.pid)
setInterval(() => undefined, 60_000)
await ended
process.exit(0)
