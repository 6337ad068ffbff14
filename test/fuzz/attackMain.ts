import { execFile } from "node:child_process"
import { existsSync, readFileSync, writeFileSync } from "node:fs"
import { writeFile } from "node:fs/promises"
import { fileURLToPath } from "node:url"
import { parseArgs, promisify } from "node:util"
import type { Attack } from "./attack/Attack.ts"
import {
  ATTACKER_NICENESS,
  type AttackResult,
  lineOf,
  P99_LIMIT_MILLIS,
  RESIDENT_LIMIT_BYTES,
  runAttack
} from "./attack/AttackRun.ts"
import { ATTACKS } from "./attack/Attacks.ts"
import { type DatabaseKind, DATABASES } from "./DefenseRig.ts"

const PRODUCTION_RATE_LIMIT_PER_MINUTE = "1200"

const SERVER = new URL("../../packages/server/", import.meta.url)

/** Builds the published program, which takes 50 MB less than the sources. */
const buildServer = async (): Promise<string> => {
  await promisify(execFile)(process.execPath, [fileURLToPath(new URL("build/bundleMain.ts", SERVER))])
  return new URL("dist/bundle/agentos-server.cjs", SERVER).href
}

/** Linux may compare priorities within a session only, and weigh sessions by this file (sched(7), autogroup). */
const SESSION_PRIORITY = "/proc/self/autogroup"

/** Lowers the priority of this process beside the server and the honest client, whose sessions are others, until it ends. */
const lowerSessionPriority = (): void => {
  if (!existsSync(SESSION_PRIORITY)) return
  const before = /nice (-?\d+)/.exec(readFileSync(SESSION_PRIORITY, "utf8"))?.[1]
  if (before === undefined) return
  writeFileSync(SESSION_PRIORITY, String(ATTACKER_NICENESS))
  process.once("exit", () => writeFileSync(SESSION_PRIORITY, before))
}

const help = `Usage: npx -y pnpm@12 attack --name NAMES|all [--database pglite|postgres] [--seconds 20] [--json FILE]

Plays an attack at full strength against a sandbox of its own, with the published server, while an honest client at another address makes 20 requests
per second. The service withstands it when the client's p99 is under ${P99_LIMIT_MILLIS} ms, none of its requests, mails, events or
payments fails, the server process takes less than ${RESIDENT_LIMIT_BYTES / 1024 / 1024} MB (VmHWM of proc(5); with PGlite the database is in that
process) and does not restart. Exits with 1 when an attack succeeds.

  --name        some of those below, comma-separated, or all
  --database    embedded or PostgreSQL (pglite)
  --seconds     of each attack (20)
  --rate-limit  requests per minute and client (${PRODUCTION_RATE_LIMIT_PER_MINUTE}, as in production)
  --json        a file for the results

${ATTACKS.map(({ name, summary }) => `  ${name.padEnd(20)} ${summary}`).join("\n")}`

const { values } = parseArgs({
  args: process.argv.slice(process.argv[2] === "--" ? 3 : 2),
  options: {
    name: { type: "string" },
    database: { type: "string", default: "pglite" },
    seconds: { type: "string", default: "20" },
    "rate-limit": { type: "string", default: PRODUCTION_RATE_LIMIT_PER_MINUTE },
    json: { type: "string" },
    help: { type: "boolean", short: "h", default: false }
  }
})

const say = (line: string) => void process.stdout.write(`${line}\n`)
const attacks: ReadonlyArray<Attack> =
  values.name === "all" ? ATTACKS : ATTACKS.filter(({ name }) => values.name?.split(",").includes(name) === true)
const database = DATABASES.find((kind): kind is DatabaseKind => kind === values.database)
const seconds = Number(values.seconds)
const rateLimitPerMinute = Number(values["rate-limit"])

if (values.help) {
  say(help)
} else if (attacks.length === 0 || database === undefined || !(seconds > 0) || !(rateLimitPerMinute >= 0)) {
  say(help)
  process.exitCode = 2
} else {
  const results: Array<AttackResult> = []
  const module = await buildServer()
  lowerSessionPriority()
  for (const attack of attacks) {
    const result = await runAttack(attack, seconds, { database, rateLimitPerMinute, server: { module } })
    say(lineOf(result))
    results.push(result)
  }
  if (values.json !== undefined) await writeFile(values.json, `${JSON.stringify(results, undefined, 2)}\n`)
  process.exitCode = results.every(({ failures }) => failures.length === 0) ? 0 : 1
}
// Connections of an attack that the server keeps open must not keep this process.
process.exit()
