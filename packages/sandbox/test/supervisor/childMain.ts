/**
 * A child for the tests of SupervisedChild. The environment selects its behavior:
 * - CHILD_MODE: `serve`; `fail` before it is ready; `recover`, which fails at its second and third start; `silent`, which
 *   prints no ready line; `stubborn`, which ignores SIGTERM
 * - CHILD_STDIN: whether to exit when stdin closes
 * - CHILD_STARTS: a file that receives a line with the time of each start
 */
import { appendFileSync, readFileSync } from "node:fs"

const { CHILD_MODE: mode, CHILD_STARTS: starts, CHILD_STDIN: stdin } = process.env
if (starts !== undefined) appendFileSync(starts, `${performance.timeOrigin}\n`)
const count = starts === undefined ? 0 : readFileSync(starts, "utf8").split("\n").length - 1
if (mode === "fail" || (mode === "recover" && (count === 2 || count === 3))) {
  console.error("planned failure")
  process.exit(7)
}
process.on("SIGTERM", () => {
  if (mode !== "stubborn") process.exit(0)
})
if (stdin === "true") process.stdin.resume().on("end", () => process.exit(0))
console.log("starting")
if (mode !== "silent") console.log(JSON.stringify({ ready: "child", pid: process.pid }))
setInterval(() => undefined, 60_000)
