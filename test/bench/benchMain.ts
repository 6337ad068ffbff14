import { readFileSync, writeFileSync } from "node:fs"
import { loadavg, cpus } from "node:os"
import { type Bench, type ComparisonResult, type LatencyResult, readOptions, runBench } from "./Bench.ts"
import { capacity } from "./capacity.ts"
import { challenge } from "./challenge.ts"
import { startOtherBuild } from "./compare/OtherBuild.ts"
import { constant } from "./constant.ts"
import { deletion } from "./deletion.ts"
import { events } from "./events.ts"
import { flame } from "./flame.ts"
import { growth } from "./growth.ts"
import { imports } from "./imports.ts"
import { latency } from "./latency.ts"
import { memory } from "./memory.ts"
import { mailIn } from "./mailIn.ts"
import { mailOut } from "./mailOut.ts"
import { numbers } from "./numbers.ts"
import { overhead } from "./overhead.ts"
import { paid, paidByMethod, paidOnChain } from "./paid.ts"
import { planner } from "./planner.ts"
import { read } from "./read.ts"
import { retention } from "./retention.ts"
import { sockets } from "./sockets.ts"
import { startUp } from "./startUp.ts"
import { voice } from "./voice.ts"
import { workers } from "./workers.ts"

/** The benches: `npx -y pnpm@12 bench [NAME] [--OPTION NUMBER]`. */
const benches: Readonly<Record<string, Bench>> = {
  challenge,
  read,
  constant,
  paid,
  "paid-chain": paidOnChain,
  "paid-methods": paidByMethod,
  overhead,
  "mail-in": mailIn,
  "mail-out": mailOut,
  events,
  sockets,
  latency,
  capacity,
  growth,
  numbers,
  deletion,
  retention,
  planner,
  voice,
  workers,
  memory,
  imports,
  flame,
  "start-up": startUp
}

const say = (line: string) => void process.stdout.write(`${line}\n`)

const usage = (): string => {
  const lines = Object.entries(benches).map(([name, { options, summary }]) => {
    const given = Object.entries(options).map(([option, value]) => ` [--${option} ${value}]`)
    return `  ${name}${given.join("")}\n    ${summary}`
  })
  return [
    "Usage: npx -y pnpm@12 bench [NAME] [OPTIONS] [--against FILE.tgz] [--json FILE]",
    "Without NAME: every bench that compares with peers.",
    "--against FILE.tgz: measures another build beside this one, from an archive that `git archive` has made.",
    ...lines
  ].join("\n")
}

/** Ends the process with the usage. */
const explain = (problem?: string): never => {
  say(problem === undefined ? usage() : `${problem}\n\n${usage()}`)
  process.exit(problem === undefined ? 0 : 2)
}

const words = process.argv.slice(process.argv[2] === "--" ? 3 : 2)
if (words.some((word) => word === "--help" || word === "-h")) explain()
/** Takes an option with the path of a file out of the words. */
const takeFile = (option: string): string | undefined => {
  const at = words.indexOf(option)
  const [, file] = at < 0 ? [] : words.splice(at, 2)
  if (at >= 0 && file === undefined) explain(`${option} must be followed by the path of a file`)
  return file
}
const jsonFile = takeFile("--json")
const archive = takeFile("--against")
const given = words[0]?.startsWith("--") === false ? words.shift()! : undefined
if (given !== undefined && !(given in benches)) explain(`No bench is named ${given}.`)
const chosen = Object.entries(benches).filter(([name, { comparesPeers }]) =>
  given === undefined ? comparesPeers === true : name === given
)
if (archive !== undefined && chosen.some(([, { comparesPeers }]) => comparesPeers !== true))
  explain("--against needs a bench that compares with peers.")
const optionsOf = (bench: Bench): ReturnType<typeof readOptions> => {
  try {
    return readOptions(bench, words)
  } catch (error) {
    return explain(error instanceof Error ? error.message : String(error))
  }
}
const runs = chosen.map(([name, bench]) => ({ name, bench, option: optionsOf(bench) }))

const load = () =>
  loadavg()
    .map((average) => average.toFixed(1))
    .join(" ")

/** The versions of the peers. */
const versions = (
  JSON.parse(readFileSync(new URL("package.json", import.meta.url), "utf8")) as {
    readonly dependencies: Readonly<Record<string, string>>
  }
).dependencies
const machine = {
  processor: cpus()[0]?.model ?? "unknown",
  cores: cpus().length,
  node: process.versions.node,
  loadAtStart: load()
}

const results: Array<{ readonly bench: string } & (ComparisonResult | LatencyResult)> = []
try {
  for (const { bench, name, option } of runs) {
    say(`${name}: ${machine.cores} cores (${machine.processor}), Node ${machine.node}, load ${load()}`)
    await runBench(
      bench,
      { option, say, record: (result) => void results.push({ bench: name, ...result }) },
      archive === undefined ? undefined : (run) => startOtherBuild(run, archive, name)
    )
    say(`\nload at the end ${load()}\n`)
  }
} catch (error) {
  say(error instanceof Error ? (error.stack ?? error.message) : String(error))
  process.exitCode = 1
} finally {
  if (jsonFile !== undefined)
    writeFileSync(
      jsonFile,
      `${JSON.stringify({ at: new Date().toISOString(), machine: { ...machine, loadAtEnd: load() }, versions, results }, null, 2)}\n`
    )
}
