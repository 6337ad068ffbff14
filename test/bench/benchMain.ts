import { loadavg, cpus } from "node:os"
import { type Bench, readOptions } from "./Bench.ts"
import { capacity } from "./capacity.ts"
import { deletion } from "./deletion.ts"
import { growth } from "./growth.ts"
import { imports } from "./imports.ts"
import { latency } from "./latency.ts"
import { numbers } from "./numbers.ts"
import { planner } from "./planner.ts"
import { sockets } from "./sockets.ts"
import { startUp } from "./startUp.ts"
import { voice } from "./voice.ts"

/** The benches: `npx -y pnpm@12 bench NAME [--OPTION NUMBER]`. */
const benches: Readonly<Record<string, Bench>> = {
  sockets,
  latency,
  capacity,
  growth,
  numbers,
  deletion,
  planner,
  voice,
  imports,
  "start-up": startUp
}

const say = (line: string) => void process.stdout.write(`${line}\n`)

const usage = (): string =>
  Object.entries(benches)
    .map(([name, { options, summary }]) => {
      const given = Object.entries(options).map(([option, value]) => ` [--${option} ${value}]`)
      return `  ${name}${given.join("")}\n    ${summary}`
    })
    .join("\n")

const [name = "--help", ...args] = process.argv.slice(process.argv[2] === "--" ? 3 : 2)
const wantsHelp = [name, ...args].some((word) => word === "--help" || word === "-h")
const bench = benches[name]
if (bench === undefined || wantsHelp) {
  say(`Usage: bench NAME [OPTIONS]\n${usage()}`)
  process.exit(wantsHelp ? 0 : 2)
}
const option = ((): ReturnType<typeof readOptions> => {
  try {
    return readOptions(bench, args)
  } catch (error) {
    say(`${error instanceof Error ? error.message : String(error)}\n\nUsage: bench NAME [OPTIONS]\n${usage()}`)
    process.exit(2)
  }
})()

const stops: Array<() => Promise<unknown>> = []
const stopAll = async () => {
  for (let stop = stops.pop(); stop !== undefined; stop = stops.pop()) await stop()
}
const interrupted = () => void stopAll().then(() => process.exit(130))
process.once("SIGINT", interrupted)
process.once("SIGTERM", interrupted)
try {
  const load = () =>
    loadavg()
      .map((average) => average.toFixed(1))
      .join(" ")
  say(`${name}: ${cpus().length} cores, Node ${process.versions.node}, load ${load()}`)
  await bench.run({ option, say, atEnd: (stop) => void stops.push(stop) })
  say(`load at the end ${load()}`)
} catch (error) {
  say(error instanceof Error ? (error.stack ?? error.message) : String(error))
  process.exitCode = 1
} finally {
  await stopAll()
}
