import { spawnGuarded, stopRequested } from "../../src/shared/GuardedProcess.ts"

// Simulates a supervisor that runs a foreign program.
const stop = stopRequested()
const guarded = await spawnGuarded("sleep", ["600"])
console.log(JSON.stringify({ pid: guarded.pid }))
await stop
process.exit(0)
