import { setPriority } from "node:os"
import { setTimeout as sleep } from "node:timers/promises"
import { type DefenseOptions, type DefenseRig, startDefenseRig } from "../DefenseRig.ts"
import { HonestProcess } from "../HonestProcess.ts"
import { type ActionFigures, figuresOf, type HonestReport } from "../HonestStatistics.ts"
import { type ServerUsage, ServerWatch } from "../ServerWatch.ts"
import type { Attack, Outside } from "./Attack.ts"

/** The limits during an attack. */
export const P99_LIMIT_MILLIS = 250
export const RESIDENT_LIMIT_BYTES = 400 * 1024 * 1024
/** Of an event, from its mail or its cause to its arrival. */
export const EVENT_P99_LIMIT_MILLIS = 5_000

const WARM_UP_MILLIS = 4_000
export const ATTACKER_NICENESS = 5

export interface AttackResult {
  readonly attack: string
  readonly database: string
  readonly seconds: number
  readonly honest: HonestReport
  readonly server: ServerUsage
  readonly answers: Readonly<Record<string, number>>
  /** How long honest clients waited for what only the attack observes. */
  readonly delays: Readonly<Record<string, ActionFigures>>
  /** Why the service did not withstand the attack; empty when it did. */
  readonly failures: ReadonlyArray<string>
}

const outsideOf = async (attack: Attack): Promise<Outside> =>
  "open" in attack
    ? attack.open()
    : { server: {}, prepare: async () => undefined, run: attack.run, close: async () => undefined }

/** Plays one attack against its own service, beside an honest client. */
export const runAttack = async (attack: Attack, seconds: number, options: DefenseOptions): Promise<AttackResult> => {
  const outside = await outsideOf(attack)
  let rig: DefenseRig | undefined
  let honest: HonestProcess | undefined
  try {
    rig = await startDefenseRig({ ...options, server: { ...options.server, ...outside.server } })
    await outside.prepare(rig)
    honest = await HonestProcess.start(rig)
    await sleep(WARM_UP_MILLIS)
    const answers: Record<string, number> = {}
    const delays = new Map<string, Array<number>>()
    const over = new AbortController()
    const count = (what: string, by = 1) => void (answers[what] = (answers[what] ?? 0) + by)
    const delayed = (what: string, millis: number) => void delays.set(what, [...(delays.get(what) ?? []), millis])
    const watch = await ServerWatch.start(rig)
    honest.begin()
    // A real attacker is another machine, so this one must not use the processor of the server and the honest client.
    setPriority(ATTACKER_NICENESS)
    const attacking = outside.run({ rig, signal: over.signal, count, delayed })
    await Promise.race([sleep(seconds * 1_000), attacking])
    over.abort()
    await attacking
    const seen = await honest.finish()
    const server = await watch.stop()
    const more = (await attack.verify?.(rig)) ?? []
    const figures = Object.fromEntries([...delays].map(([what, millis]) => [what, figuresOf(millis)]))
    const failures = [
      ...judge(seen, server),
      ...judgeEvents({ event: seen.byAction.event, ...figures }),
      ...judgeAdmitted(attack, answers, seconds),
      ...more
    ]
    const { database } = options
    return { attack: attack.name, database, seconds, honest: seen, server, answers, delays: figures, failures }
  } finally {
    honest?.kill()
    await rig?.stop()
    await outside.close()
  }
}

const judge = ({ errors, requests }: HonestReport, server: ServerUsage): ReadonlyArray<string> => {
  const failures: Array<string> = []
  if (!(requests.p99Millis < P99_LIMIT_MILLIS)) failures.push(`p99 of the honest client is ${requests.p99Millis} ms`)
  for (const { action, count, detail } of errors) failures.push(`honest ${action} failed ${count} times: ${detail}`)
  if (server.residentMaxBytes >= RESIDENT_LIMIT_BYTES)
    failures.push(`the server took ${mega(server.residentMaxBytes)} MB`)
  if (server.restarts > 0) failures.push(`the server restarted ${server.restarts} times`)
  return failures
}

const judgeEvents = (delays: Readonly<Record<string, ActionFigures | undefined>>): ReadonlyArray<string> =>
  Object.entries(delays).flatMap(([what, figures]) =>
    figures !== undefined && figures.p99Millis >= EVENT_P99_LIMIT_MILLIS ? [`${what} took ${figures.p99Millis} ms`] : []
  )

const judgeAdmitted = (
  { admitted }: Attack,
  answers: Readonly<Record<string, number>>,
  seconds: number
): ReadonlyArray<string> => {
  if (admitted === undefined) return []
  const { burst, perSecond, what } = admitted
  const count = answers[what] ?? 0
  return count <= burst + perSecond * seconds ? [] : [`${count} ${what} in ${seconds} s`]
}

const mega = (bytes: number): number => Math.round(bytes / (1024 * 1024))

export const lineOf = ({
  answers,
  attack,
  database,
  delays,
  failures,
  honest,
  seconds,
  server
}: AttackResult): string => {
  const { count, maxMillis, p50Millis, p99Millis } = honest.requests
  const verdict = failures.length === 0 ? "withstood" : `FAILED: ${failures.join("; ")}`
  return [
    `${attack} on ${database}, ${seconds} s: ${verdict}`,
    `  honest: ${count} requests, p50 ${p50Millis} ms, p99 ${p99Millis} ms, max ${maxMillis} ms; ` +
      Object.entries({ ...honest.byAction, ...delays })
        .map(([action, figures]) => `${action} ${figures.count} (p99 ${figures.p99Millis} ms)`)
        .join(", "),
    `  server: ${mega(server.residentMaxBytes)} MB at most, ${server.cpuPercent.toFixed(0)} % of a core; ` +
      `parsers: ${server.parserStarts}, ${mega(server.parserMaxBytes)} MB at most`,
    `  attacker: ${Object.entries(answers)
      .map(([what, times]) => `${times} ${what}`)
      .join(", ")}`
  ].join("\n")
}
