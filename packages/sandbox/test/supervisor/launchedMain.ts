import { launcherEnded } from "../../src/supervisor/Launchers.ts"

/** Longer than the time between two checks of the launcher. */
const ALIVE_MILLIS = 600

/** Prints its pid, then that it lives, again and again, and exits with 0 when its launcher has ended. */
const ended = launcherEnded(new AbortController().signal)
console.log(process.pid)
setInterval(() => console.log("alive"), ALIVE_MILLIS)
await ended
process.exit(0)
