#!/usr/bin/env node
import { writeSync } from "node:fs"
import { VERSION } from "./Version.ts"

const [only, ...more] = process.argv.slice(2)
if (more.length === 0 && (only === "--version" || only === "-V")) {
  // Scripts and installers ask for the version most often, so it is printed before any other module is loaded.
  writeSync(1, `agentctl ${VERSION}\n`)
} else {
  void import("./NodeProgram.ts").then(({ runOnNode }) => runOnNode())
}
