import { spawnSync } from "node:child_process"
import { fileURLToPath } from "node:url"
import { expect, it } from "vitest"

const MODULE = fileURLToPath(new URL("../../src/program/StopDeadline.ts", import.meta.url))

/** Makes a function hot, stops, and makes another one hot. V8 reports each compilation. */
const PROGRAM = `
  const { StopDeadline } = await import(${JSON.stringify(MODULE)})
  const make = (name) => new Function("n", "/* " + name + " */ let s = 0; for (let i = 0; i < n; i++) s = (s * 3 + i) | 0; return s")
  const heat = (work) => { for (let i = 0; i < 5_000; i++) work(1_000) }
  heat(make("before"))
  new StopDeadline(undefined).begin()
  console.log("STOPPING")
  heat(make("after"))
  process.exit()`

it("starts no compilation once the server stops", () => {
  const args = ["--trace-opt", "--input-type=module", "--eval", PROGRAM]
  const { status, stderr, stdout } = spawnSync(process.execPath, args, { encoding: "utf8" })
  expect([status, stderr]).toEqual([0, ""])
  const [before, after] = stdout.split("STOPPING")
  expect(before).toContain("[compiling method")
  expect(after).not.toContain("[compiling method")
})
