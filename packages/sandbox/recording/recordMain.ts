/**
 * Records the tour in a new sandbox: docs/tour.cast, and docs/tour.svg, which the README shows. The output is that of the
 * tour; it is shown more slowly, so that it can be read.
 */
import { spawn } from "node:child_process"
import { once } from "node:events"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { text } from "node:stream/consumers"
import { type Cast, type Output, toFile, toSvg } from "./Cast.ts"

const COLUMNS = 110
const ROWS = 36
const LINE_SECONDS = 0.9

const sandboxMain = new URL("../src/main.ts", import.meta.url).pathname
const docs = new URL("../../../docs/", import.meta.url)

const start = (args: ReadonlyArray<string>) =>
  spawn(process.execPath, [sandboxMain, ...args], { stdio: ["ignore", "pipe", "inherit"] })

const data = mkdtempSync(join(tmpdir(), "agentos-recording-"))
const sandbox = start(["--data", data, "--port", "0", "--no-tour"])
try {
  let printed = ""
  for await (const chunk of sandbox.stdout.setEncoding("utf8").iterator({ destroyOnReturn: false })) {
    printed += String(chunk)
    if (/^ready /m.test(printed)) break
  }
  sandbox.stdout.resume()
  const tour = start(["tour", "--data", data])
  const [output, [code]] = await Promise.all([text(tour.stdout), once(tour, "exit")])
  if (code !== 0) throw new Error(`the tour ended with exit code ${code}:\n${output}`)
  const cast = recording("npx -y pnpm@12 tour", output)
  writeFileSync(new URL("tour.cast", docs), toFile(cast))
  writeFileSync(new URL("tour.svg", docs), toSvg(cast))
} finally {
  const ended = once(sandbox, "exit")
  sandbox.kill("SIGINT")
  await ended
  rmSync(data, { recursive: true, force: true })
}

/** Returns the recording of a command, whose lines appear one after the other. */
function recording(command: string, output: string): Cast {
  let atSeconds = LINE_SECONDS
  const outputs: Array<Output> = [{ atSeconds, text: `$ ${command}\r\n` }]
  for (const line of output.trim().split("\n")) {
    if (line !== "") atSeconds += LINE_SECONDS
    outputs.push({ atSeconds, text: `${line}\r\n` })
  }
  return { title: "The tour of AgentOS", width: COLUMNS, height: ROWS, outputs }
}
