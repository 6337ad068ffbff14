/**
 * A child for the tests of the supervision. What it does stands in the environment:
 * - CHILD_LIFE: `serve`; `die` before it serves; `recover`, which dies so at its second start and its third; `mute`, which never says that it serves; `stubborn` against SIGTERM
 * - CHILD_STDIN: whether to end with stdin
 * - CHILD_STARTS: a file that gets a line for each start, with its moment
 */
import { appendFileSync, readFileSync } from "node:fs"

const { CHILD_LIFE: life, CHILD_STARTS: starts, CHILD_STDIN: stdin } = process.env
if (starts !== undefined) appendFileSync(starts, `${performance.timeOrigin}\n`)
const count = starts === undefined ? 0 : readFileSync(starts, "utf8").split("\n").length - 1
if (life === "die" || (life === "recover" && (count === 2 || count === 3))) {
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
