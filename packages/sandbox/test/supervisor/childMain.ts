/**
 * A child for the tests of the supervision. What it does stands in the environment:
 * - CHILD_LIFE: `serve`; `die` before it serves; `mute`, which never says that it serves; `stubborn` against SIGTERM
 * - CHILD_STDIN: whether to end with stdin
 * - CHILD_STARTS: a file that gets a line for each start, with its moment
 */
import { appendFileSync } from "node:fs"

const { CHILD_LIFE: life, CHILD_STARTS: starts, CHILD_STDIN: stdin } = process.env
if (starts !== undefined) appendFileSync(starts, `${performance.timeOrigin}\n`)
if (life === "die") {
  console.error("no life in me")
  process.exit(7)
}
process.on("SIGTERM", () => {
  if (life !== "stubborn") process.exit(0)
})
if (stdin === "true") process.stdin.resume().on("end", () => process.exit(0))
console.log("not yet")
if (life !== "mute") console.log(JSON.stringify({ ready: "child", pid: process.pid }))
setInterval(() => undefined, 60_000)
