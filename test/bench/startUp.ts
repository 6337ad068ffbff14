import type { SandboxDescription } from "@agentos/sandbox"
import { startPostgres } from "@agentos/postgres/testing"
import { spawn } from "node:child_process"
import { once } from "node:events"
import { readdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { install } from "../packed/Installation.ts"
import { start } from "../packed/Running.ts"
import { type Bench, DURABLE, PG, quantile, table } from "./Bench.ts"

/** A server that connects, runs one query and listens. */
const FASTIFY = `
import fastify from "fastify"
import pg from "pg"
const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL })
await pool.query("select 1")
const server = fastify()
server.get("/", async () => (await pool.query("select 1 as one")).rows)
await server.listen({ host: "127.0.0.1", port: 0 })
console.log(JSON.stringify({ event: "listening" }))
process.on("SIGTERM", async () => {
  await server.close()
  await pool.end()
  process.exit()
})
`

const SERVER = "node_modules/@agentos/server/dist"
const BUNDLE = `${SERVER}/bundle/agentos-server.cjs`

type Variables = Readonly<Record<string, string>>

/** The required settings, and those of a server with mail. */
const settingsOf = (
  { emailDomain, mail, networks }: SandboxDescription,
  databaseUrl: string
): { readonly required: Variables; readonly withMail: Variables } => {
  const required = {
    AGENTOS_ENVIRONMENT: "sandbox",
    AGENTOS_PUBLIC_URL: "http://127.0.0.1:8080",
    AGENTOS_PORT: "0",
    AGENTOS_KEYS: `1:${"k".repeat(44)}`,
    AGENTOS_NETWORKS: JSON.stringify(networks),
    DATABASE_URL: databaseUrl
  }
  const withMail = {
    ...required,
    AGENTOS_EMAIL_DOMAIN: emailDomain,
    AGENTOS_SMTP_PORT: "0",
    AGENTOS_SMTP_RELAY_HOST: mail.host,
    AGENTOS_SMTP_RELAY_PORT: String(mail.relayPort),
    AGENTOS_SMTP_RELAY_TLS: "none"
  }
  return { required, withMail }
}

interface Program {
  readonly name: string
  readonly parameters: ReadonlyArray<string>
  readonly variables: Variables
  /** Whether it listens. The time of others ends with them. */
  readonly isServer: boolean
}

interface Reading {
  readonly millis: number
  /** Processor time of all threads. */
  readonly cpuMillis: number
}

/** Returns the processor time that the threads of a process have used, in milliseconds (proc(5), schedstat). */
const cpuMillisOf = (pid: number): number => {
  const tasks = `/proc/${pid}/task`
  const used = readdirSync(tasks).map((task) =>
    Number(readFileSync(`${tasks}/${task}/schedstat`, "utf8").split(" ")[0])
  )
  return used.reduce((sum, nanos) => sum + nanos, 0) / 1e6
}

const measure = async ({ isServer, parameters, variables }: Program, cwd: string, env: Variables): Promise<Reading> => {
  const begin = performance.now()
  const child = spawn(process.execPath, parameters, {
    cwd,
    env: { ...env, ...variables },
    stdio: ["ignore", isServer ? "pipe" : "ignore", "inherit"]
  })
  const closed = once(child, "close")
  if (!isServer) {
    const [status] = await closed
    if (status !== 0) throw new Error(`${parameters.join(" ")} ended with ${String(status)}`)
    return { millis: performance.now() - begin, cpuMillis: Number.NaN }
  }
  let output = ""
  for await (const text of child.stdout!.setEncoding("utf8")) {
    output += String(text)
    if (output.includes(`"listening"`)) break
  }
  if (!output.includes(`"listening"`)) throw new Error(`${parameters.join(" ")} ended before it listened`)
  const reading = { millis: performance.now() - begin, cpuMillis: cpuMillisOf(child.pid!) }
  child.kill("SIGTERM")
  await closed
  return reading
}

/** Rounds that are not counted: the first fills the compile cache and brings the database up to date. */
const WARM_UP_ROUNDS = 2

const inOrder = (values: ReadonlyArray<number>): ReadonlyArray<number> => values.toSorted((a, b) => a - b)
const median = (values: ReadonlyArray<number>): number => quantile(inOrder(values), 0.5)

export const startUp: Bench = {
  summary: "Time until agentos-server of the packed files listens on PostgreSQL, beside Fastify with pg, on Node 24.",
  options: { rounds: 11 },
  run: async ({ atEnd, option, say }) => {
    const installation = await install(PG)
    atEnd(async () => installation.stop())
    const { folder } = installation
    const sandbox = start(installation, 24, "npx", ["agentos-sandbox", "--no-tour", "--port", "0"])
    atEnd(() => sandbox.stop())
    await sandbox.find(/^ready (\S+)/m)
    const postgres = await startPostgres({ settings: DURABLE })
    atEnd(() => postgres.stop())
    writeFileSync(join(folder, "fastify.mjs"), FASTIFY)
    const description = JSON.parse(readFileSync(join(folder, ".agentos", "sandbox.json"), "utf8")) as SandboxDescription
    const { required, withMail } = settingsOf(description, postgres.url)
    const server = (name: string, file: string, variables: Variables): Program => ({
      name,
      parameters: [file, ...(file === "fastify.mjs" ? [] : ["start"])],
      variables,
      isServer: true
    })
    const command = (name: string, ...parameters: ReadonlyArray<string>): Program => ({
      name,
      parameters,
      variables: required,
      isServer: false
    })
    const fastify = server("Fastify with `pg`", "fastify.mjs", required)
    const programs = [
      fastify,
      server("`agentos-server start`", BUNDLE, required),
      server("`agentos-server start`, with mail", BUNDLE, withMail),
      server("the same from its modules, not bundled", `${SERVER}/main.js`, withMail),
      command("Node alone", "--eval", "0"),
      command("`agentos-server --help`", BUNDLE, "--help"),
      command("`agentos-server check-config`", BUNDLE, "check-config")
    ]
    const environment = installation.environment(24)
    const runs = [false, true].flatMap((isCached) =>
      programs.map((program) => ({ program, isCached, readings: new Array<Reading>() }))
    )
    // Alternating runs, so that other load affects all of them alike.
    for (let round = -WARM_UP_ROUNDS; round < option("rounds"); round++)
      for (const { isCached, program, readings } of runs) {
        const cache: Variables = isCached ? { NODE_COMPILE_CACHE: join(folder, "compiled") } : {}
        const reading = await measure(program, folder, { ...environment, ...cache })
        if (round >= 0) readings.push(reading)
      }
    for (const isCached of [false, true]) {
      const part = runs.filter((run) => run.isCached === isCached)
      const [base] = part
      const rows = part.map(({ program: { isServer, name }, readings }) => {
        const millis = inOrder(readings.map((reading) => reading.millis))
        const cpuMillis = readings.map((reading) => reading.cpuMillis)
        const ratio = (of: (reading: Reading) => number) =>
          (median(readings.map(of)) / median(base!.readings.map(of))).toFixed(2)
        return [
          name,
          median(millis).toFixed(0),
          `${millis[0]!.toFixed(0)}–${millis.at(-1)!.toFixed(0)}`,
          isServer ? ratio((reading) => reading.millis) : "",
          isServer ? median(cpuMillis).toFixed(0) : "",
          isServer ? ratio((reading) => reading.cpuMillis) : ""
        ]
      })
      say(`\n${isCached ? "with" : "without"} a compile cache\n`)
      say(table(["program", "ms", "range", "times Fastify", "processor ms", "times Fastify"], rows))
    }
    say(`\nmedians of ${option("rounds")} processes each, from the start of the process until it listens or ends`)
  }
}
