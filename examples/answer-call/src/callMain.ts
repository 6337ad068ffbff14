/** Simulates a caller through the carrier of the sandbox. Arguments: the number, and the lines of the caller. */
import { readFileSync } from "node:fs"
import { setTimeout as sleep } from "node:timers/promises"
import { parseArgs } from "node:util"

const { positionals, values } = parseArgs({ allowPositionals: true, options: { sandbox: { type: "string" } } })
const [to, ...lines] = positionals
const sandboxFile = values.sandbox ?? new URL("../../../.agentos/sandbox.json", import.meta.url)
const { carrier } = JSON.parse(readFileSync(sandboxFile, "utf8"))
const calls = `${carrier.url}/sandbox/calls`
// The number is from the range that is reserved for fiction.
const body = JSON.stringify({ from: "+14155550150", to, lines: lines.length > 0 ? lines : ["Hello?", "Bye."] })
const started = await fetch(calls, { method: "POST", headers: { "Content-Type": "application/json" }, body })
if (!started.ok) throw new Error(await started.text())
const { id } = (await started.json()) as { id: string }
for (;;) {
  const call = (await (await fetch(`${calls}/${id}`)).json()) as {
    state: string
    heard: Array<string>
    endedBy: string
  }
  if (call.state === "completed" || call.state === "rejected") {
    console.log([...call.heard, `${call.state}, ended by ${call.endedBy}`].join("\n"))
    break
  }
  await sleep(100)
}
