import type { CampaignResult, Finding } from "./Campaign.ts"
import type { HonestReport } from "./HonestStatistics.ts"
import type { ServerUsage } from "./ServerWatch.ts"

/** The result of a fuzzing session. */
export interface FuzzReport extends CampaignResult {
  readonly seed: number
  readonly database: string
  readonly seconds: number
  readonly honest: HonestReport
  readonly server: ServerUsage
  /** Problems besides the findings. */
  readonly problems: ReadonlyArray<string>
}

const MIB = 1024 * 1024
/** In a shorter session memory has not settled. */
const GROWTH_SECONDS = 300
const GROWTH_LIMIT = 1.25
const GROWTH_LIMIT_BYTES = 64 * MIB

/** Problems that the honest client, the server's processes and the ledger show. */
export const problemsOf = (
  honest: HonestReport,
  server: ServerUsage,
  seconds: number,
  ledger: string | undefined
): ReadonlyArray<string> => {
  const problems = honest.errors.map(
    ({ action, count, detail }) => `the honest client's ${action} failed ${count} times: ${detail}`
  )
  const { residentEarlyBytes: early, residentLateBytes: late, restarts } = server
  if (restarts > 0) problems.push(`the server restarted ${restarts} times`)
  if (seconds >= GROWTH_SECONDS && late > early * GROWTH_LIMIT && late - early > GROWTH_LIMIT_BYTES) {
    problems.push(`the server's memory grew from ${mega(early)} to ${mega(late)} MB`)
  }
  if (ledger !== undefined) problems.push(ledger)
  return problems
}

const mega = (bytes: number): number => Math.round(bytes / MIB)

export const replayOf = ({ case: number, seed, target }: Finding): string =>
  `npx -y pnpm@12 fuzz --target ${target} --seed ${seed} --case ${number}`

export const linesOfFinding = (finding: Finding): ReadonlyArray<string> => [
  `BROKEN (${finding.target}, ${finding.count} times): ${finding.rule}`,
  `  ${finding.detail.slice(0, 400)}`,
  `  ${replayOf(finding)}`
]

export const linesOf = (report: FuzzReport): ReadonlyArray<string> => {
  const { cases, counts, database, findings, honest, problems, seconds, seed, server, statuses } = report
  const list = (figures: Readonly<Record<string, number>>) =>
    Object.entries(figures)
      .map(([name, count]) => `${count} ${name}`)
      .join(", ")
  const { requests } = honest
  return [
    `${seconds} s on ${database}, seed ${seed}`,
    `sent: ${list(counts)}`,
    `cases: ${list(cases)}`,
    `answers: ${Object.entries(statuses)
      .map(([status, count]) => `${status} ${count} times`)
      .join(", ")}`,
    `honest client: ${requests.count} requests, p50 ${requests.p50Millis} ms, p99 ${requests.p99Millis} ms`,
    `server: ${mega(server.residentMaxBytes)} MB at most, ${mega(server.residentEarlyBytes)} MB early, ` +
      `${mega(server.residentLateBytes)} MB late, ${server.cpuPercent.toFixed(0)} % of a core, ${server.restarts} restarts; ` +
      `${server.parserStarts} parsers, ${mega(server.parserMaxBytes)} MB at most`,
    ...findings.flatMap(linesOfFinding),
    ...problems.map((problem) => `PROBLEM: ${problem}`),
    findings.length + problems.length === 0 ? "Nothing broken." : `${findings.length} promises broken.`
  ]
}
