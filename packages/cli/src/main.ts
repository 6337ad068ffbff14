#!/usr/bin/env node
import { writeSync } from "node:fs"
import { VERSION } from "./Version.ts"

const [only, ...more] = process.argv.slice(2)
if (more.length === 0 && (only === "--version" || only === "-V")) {
  // Asked more often than anything else, by scripts and installers: answered before anything is loaded,
  // Node's own streams included.
  writeSync(1, `agentctl ${VERSION}\n`)
} else {
  void import("./host/HostNode.ts").then(({ runOnNode }) => runOnNode())
}
