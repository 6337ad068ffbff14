#!/usr/bin/env node
import { writeSync } from "node:fs"
import { keepCompiled } from "./CompileCache.ts"
import { OLDEST_NODE, RUNS_FROM_SOURCES, VERSION } from "./Version.ts"

const [only, ...more] = process.argv.slice(2)
if (more.length === 0 && (only === "--version" || only === "-V")) {
  // Scripts and installers ask for the version most often, so it is printed before any other module is loaded.
  writeSync(1, `agentctl ${VERSION}\n`)
} else if (Number(process.versions.node.split(".")[0]) < OLDEST_NODE) {
  // An older one has no WebSocket, and would fail in the middle of a command, perhaps after a payment.
  writeSync(
    2,
    `Error: agentctl needs Node.js ${OLDEST_NODE} or newer, and this is ${process.versions.node}. Nothing was done.\nNext: install Node.js ${OLDEST_NODE} or newer: https://nodejs.org\n`
  )
  process.exitCode = 3
} else {
  if (!RUNS_FROM_SOURCES) keepCompiled()
  void import("./NodeProgram.ts").then(({ runOnNode }) => runOnNode())
}
