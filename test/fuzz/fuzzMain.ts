import { writeFile } from "node:fs/promises"
import { parseArgs } from "node:util"
import { readSeed } from "../support/Random.ts"
import { inputOf, playCase, runCampaign } from "./Campaign.ts"
import { type DatabaseKind, DATABASES, type DefenseRig, startDefenseRig } from "./DefenseRig.ts"
import { type FuzzReport, linesOf, linesOfFinding, problemsOf } from "./FuzzReport.ts"
import { HonestProcess } from "./HonestProcess.ts"
import { Oracle } from "./Oracle.ts"
import { keepFinding } from "./Regressions.ts"
import { ServerWatch } from "./ServerWatch.ts"
import type { Target } from "./target/Target.ts"
import { TARGETS } from "./target/Targets.ts"

const help = `Usage: npx -y pnpm@12 fuzz --minutes N [--seed S] [--target NAME] [--database pglite|postgres] [--json FILE] [--keep]
       npx -y pnpm@12 fuzz --target NAME --seed S --case K

Sends malformed input to a sandbox of its own through every door, beside an honest client at 20 requests per second.
Judges every answer (no 500, errors in the envelope, no other tenant's data), the honest client, the memory and restarts
of the server, and the ledger at the end. Exits with 1 when a promise was broken. A finding names the seed and the case
that repeat it.

  --minutes     how long
  --seed        of all choices: a whole number (1 by default), or random
  --target      one of those below (all at a time)
  --case        plays this case alone and prints it
  --database    embedded or PostgreSQL (pglite)
  --rate-limit  requests per minute and client (0: none, so that most of the load reaches the code behind it)
  --json        a file for the report
  --keep        writes each finding to test/fuzz/regression, from where the tests replay it

${TARGETS.map(({ name, summary }) => `  ${name.padEnd(10)} ${summary}`).join("\n")}`

const { values } = parseArgs({
  args: process.argv.slice(process.argv[2] === "--" ? 3 : 2),
  options: {
    minutes: { type: "string" },
    seed: { type: "string" },
    target: { type: "string" },
    case: { type: "string" },
    database: { type: "string", default: "pglite" },
    "rate-limit": { type: "string", default: "0" },
    json: { type: "string" },
    keep: { type: "boolean", default: false },
    help: { type: "boolean", short: "h", default: false }
  }
})

const say = (line: string) => void process.stdout.write(`${line}\n`)
const targets: ReadonlyArray<Target> =
  values.target === undefined ? TARGETS : TARGETS.filter(({ name }) => name === values.target)
const database = DATABASES.find((kind): kind is DatabaseKind => kind === values.database)
const seed = readSeed(values.seed)
const minutes = Number(values.minutes ?? Number.NaN)
const number = values.case === undefined ? undefined : Number(values.case)
const rateLimitPerMinute = Number(values["rate-limit"])

const fuzz = async (rig: DefenseRig): Promise<boolean> => {
  const over = new AbortController()
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => over.abort())
  const honest = await HonestProcess.start(rig)
  try {
    const startedAt = performance.now()
    const watch = await ServerWatch.start(rig)
    honest.begin()
    setTimeout(() => over.abort(), minutes * 60_000).unref()
    const result = await runCampaign(rig, {
      targets,
      seed,
      casesMax: Number.POSITIVE_INFINITY,
      signal: over.signal,
      found: (finding) => linesOfFinding(finding).forEach(say)
    })
    const seconds = Math.round((performance.now() - startedAt) / 1_000)
    const seen = await honest.finish()
    const server = await watch.stop()
    const problems = problemsOf(seen, server, seconds, await rig.auditLedger())
    const report: FuzzReport = { ...result, seed, database: rig.database, seconds, honest: seen, server, problems }
    for (const line of linesOf(report)) say(line)
    if (values.json !== undefined) await writeFile(values.json, `${JSON.stringify(report, undefined, 2)}\n`)
    if (values.keep) for (const finding of result.findings) say(`kept ${await keepFinding(finding)}`)
    return result.findings.length + problems.length === 0
  } finally {
    honest.kill()
  }
}

const replay = async (rig: DefenseRig, target: Target, caseNumber: number): Promise<boolean> => {
  const input = inputOf(target, seed, caseNumber)
  say(JSON.stringify(input, undefined, 2))
  const player = await target.open({ rig, oracle: new Oracle(rig.canaries), count: () => undefined })
  const flaws = await playCase(player, input)
  await player.close()
  for (const { detail, rule } of flaws) say(`BROKEN: ${rule}\n  ${detail}`)
  if (flaws.length === 0) say("Nothing broken.")
  return flaws.length === 0
}

const [first] = targets
if (values.help) {
  say(help)
} else if (
  first === undefined ||
  database === undefined ||
  !Number.isInteger(seed) ||
  !(rateLimitPerMinute >= 0) ||
  (number === undefined ? !(minutes > 0) : !Number.isInteger(number) || values.target === undefined)
) {
  say(help)
  process.exitCode = 2
} else {
  const rig = await startDefenseRig({ database, rateLimitPerMinute })
  try {
    const isWell = number === undefined ? await fuzz(rig) : await replay(rig, first, number)
    process.exitCode = isWell ? 0 : 1
  } finally {
    await rig.stop()
  }
}
// Connections that the server keeps open must not keep this process.
process.exit()
