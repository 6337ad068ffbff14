import { launcherGone } from "../../src/supervisor/Launchers.ts"

/** Says that it runs, and ends with exit code 0 when its launcher has gone; for the test of that. */
const gone = launcherGone(new AbortController().signal)
console.log(process.pid)
setInterval(() => undefined, 60_000)
await gone
process.exit(0)
