/** Starts the process that reads mail while this one can open no file, then writes how it ended. */
import { closeSync, openSync } from "node:fs"
import { setImmediate } from "node:timers/promises"
import { Effect } from "effect"
import { startParser } from "../../src/parser/ParserProcess.ts"

const limits = { readMillis: 20_000, processorMillis: 20_000, processorMillisPerMib: 0, heapMegabytes: 256 }
const held: Array<number> = []
let isFull = false
while (!isFull) {
  try {
    held.push(openSync("/dev/null", "r"))
  } catch {
    isFull = true
  }
}
const exit = await Effect.runPromise(Effect.exit(Effect.scoped(startParser(limits))))
// The error of the process arrives after that of its start.
await setImmediate()
for (const file of held) closeSync(file)
console.log(exit._tag)
