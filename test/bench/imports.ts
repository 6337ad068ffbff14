import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { install } from "../packed/Installation.ts"
import { start } from "../packed/Running.ts"
import { type Bench, PG, quantile, table } from "./Bench.ts"

const FACTORY = `
const { createAgentOs, memory, x402 } = await import("@agentos/agentos")
const { readFileSync } = await import("node:fs")
const { networks } = JSON.parse(readFileSync(".agentos/sandbox.json", "utf8"))
await createAgentOs({
  publicUrl: "http://localhost:8080", keys: "1:${"k".repeat(44)}", storage: memory(), payment: x402({ networks })
})`

const PROGRAMS = [
  { name: "Node alone", code: "" },
  { name: "Fastify with `pg`", code: `await import("fastify"); await import("pg")` },
  { name: "`effect`", code: `await import("effect")` },
  { name: "`@agentos/core`", code: `await import("@agentos/core")` },
  { name: "`@agentos/agentos`", code: `await import("@agentos/agentos")` },
  { name: "`createAgentOs`, in memory, with a network", code: FACTORY }
]

/** Prints the time and the memory that a program takes, or the number of modules outside Node that it loads. */
const METER = `
import { registerHooks } from "node:module"
let modules = 0
if (process.argv[3] === "count")
  registerHooks({
    load: (url, context, next) => {
      if (!url.startsWith("node:")) modules++
      return next(url, context)
    }
  })
const begin = performance.now()
await import(process.argv[2])
const millis = performance.now() - begin
console.log(JSON.stringify({ millis, rss: process.memoryUsage.rss() / 1e6, modules: modules - 1 }))
process.exit()
`

interface Reading {
  readonly millis: number
  readonly rss: number
  readonly modules: number
}

const median = (values: ReadonlyArray<number>): number =>
  quantile(
    values.toSorted((a, b) => a - b),
    0.5
  )

export const imports: Bench = {
  summary: "Time, memory and modules of importing the packed files on Node 24, beside Fastify with pg.",
  options: { rounds: 15 },
  run: async ({ atEnd, option, say }) => {
    const installation = await install(PG)
    atEnd(async () => installation.stop())
    const sandbox = start(installation, 24, "npx", ["agentos-sandbox", "--no-tour", "--port", "0"])
    atEnd(() => sandbox.stop())
    await sandbox.find(/^ready (\S+)/m)
    writeFileSync(join(installation.folder, "meter.mjs"), METER)
    for (const [index, { code }] of PROGRAMS.entries())
      writeFileSync(join(installation.folder, `program${index}.mjs`), code)
    const read = async (index: number, ...more: ReadonlyArray<string>): Promise<Reading> =>
      JSON.parse((await installation.run(24, "node", "meter.mjs", `./program${index}.mjs`, ...more)).stdout) as Reading

    const readings = PROGRAMS.map(() => new Array<Reading>())
    // Alternating runs, so that other load affects all of them alike.
    for (let round = 0; round < option("rounds"); round++)
      for (const [index, list] of readings.entries()) list.push(await read(index))
    const rows: Array<ReadonlyArray<string | number>> = []
    for (const [index, { name }] of PROGRAMS.entries()) {
      const { modules } = await read(index, "count")
      const list = readings[index]!
      const [millis, rss] = [median(list.map((reading) => reading.millis)), median(list.map((reading) => reading.rss))]
      rows.push([name, millis.toFixed(0), rss.toFixed(0), modules])
    }
    say(table(["program", "ms", "RSS, MB", "modules"], rows))
    say(`medians of ${option("rounds")} processes each, without a compile cache`)
  }
}
