import { spawnGuarded } from "../../src/process/GuardedProcess.ts"
import { stopRequested } from "../../src/process/StopRequest.ts"

// Stands for a supervisor that has a foreign program under it.
const stop = stopRequested()
const guarded = await spawnGuarded("sleep", ["600"])
console.log(JSON.stringify({ pid: guarded.pid }))
await stop
process.exit(0)
