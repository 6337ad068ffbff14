import { makeRandom } from "../support/Random.ts"
import type { DefenseRig } from "./DefenseRig.ts"
import type { Flaw } from "./Flaw.ts"
import type { Json } from "./Mutation.ts"
import { Oracle } from "./Oracle.ts"
import { shrink } from "./Shrink.ts"
import type { Countable, FuzzStage, Player, Target } from "./target/Target.ts"
import { TARGETS } from "./target/Targets.ts"

/** A broken promise, and the input that reproduces it. */
export interface Finding {
  readonly target: string
  readonly rule: string
  readonly detail: string
  readonly seed: number
  readonly case: number
  /** The input, shrunk. */
  readonly input: unknown
  /** How many cases broke the same promise of the same target. */
  count: number
}

export interface CampaignOptions {
  readonly targets: ReadonlyArray<Target>
  readonly seed: number
  /** Maximum number of cases of each target. */
  readonly casesMax: number
  readonly signal: AbortSignal
  /** Called for each new finding. */
  readonly found?: (finding: Finding) => void
}

export interface CampaignResult {
  readonly cases: Readonly<Record<string, number>>
  readonly counts: Readonly<Partial<Record<Countable, number>>>
  /** How often each HTTP status was answered. */
  readonly statuses: Readonly<Record<string, number>>
  readonly findings: ReadonlyArray<Finding>
}

/** A longer case counts as hanging. */
const CASE_MILLIS = 60_000

/** The input of a case: a pure function of target, seed and number. */
export const inputOf = (target: Target, seed: number, number: number): unknown =>
  target.generate(
    makeRandom(seed)
      .fork(TARGETS.findIndex(({ name }) => name === target.name))
      .fork(number)
  )

/** Plays one input. Resolves to the broken promises; an answer that the player cannot read is one. */
export const playCase = async (player: Player<unknown>, input: unknown): Promise<ReadonlyArray<Flaw>> => {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<ReadonlyArray<Flaw>>((resolve) => {
    const flaw = { rule: "every case ends", detail: `not within ${CASE_MILLIS / 1_000} s` }
    timer = setTimeout(() => resolve([flaw]), CASE_MILLIS)
  })
  const played = player
    .play(input)
    .catch((error: unknown): ReadonlyArray<Flaw> => [
      { rule: "every answer can be read", detail: error instanceof Error ? error.message : String(error) }
    ])
  try {
    return await Promise.race([played, late])
  } finally {
    clearTimeout(timer)
  }
}

/** Plays the cases of each target, several targets at a time, and shrinks the first case of each broken promise. */
export const runCampaign = async (rig: DefenseRig, options: CampaignOptions): Promise<CampaignResult> => {
  const counts: Partial<Record<Countable, number>> = {}
  const stage: FuzzStage = {
    rig,
    oracle: new Oracle(rig.canaries),
    count: (what, by = 1) => void (counts[what] = (counts[what] ?? 0) + by)
  }
  const findings = new Map<string, Finding>()
  const cases: Record<string, number> = {}

  const note = (target: Target, number: number, input: unknown, { detail, rule }: Flaw) => {
    const key = `${target.name} ${rule}`
    const known = findings.get(key)
    if (known !== undefined) {
      known.count += 1
      return
    }
    const finding = { target: target.name, rule, detail, seed: options.seed, case: number, input, count: 1 }
    findings.set(key, finding)
    options.found?.(finding)
  }

  const playTarget = async (target: Target): Promise<void> => {
    let next = 0
    const work = async () => {
      const player = await target.open(stage)
      try {
        while (!options.signal.aborted && next < options.casesMax) {
          const number = next++
          const input = inputOf(target, options.seed, number)
          for (const flaw of await playCase(player, input)) note(target, number, input, flaw)
        }
      } finally {
        await player.close()
      }
    }
    await Promise.all(Array.from({ length: Math.min(target.workers, options.casesMax) }, work))
    cases[target.name] = next
  }
  await Promise.all(options.targets.map(playTarget))

  const small: Array<Finding> = []
  for (const finding of findings.values()) {
    const target = options.targets.find(({ name }) => name === finding.target)!
    const player = await target.open(stage)
    const breaks = async (input: Json) => (await playCase(player, input)).some(({ rule }) => rule === finding.rule)
    small.push({ ...finding, input: await shrink(finding.input as Json, breaks) })
    await player.close()
  }
  return { cases, counts, statuses: stage.oracle.statuses, findings: small }
}
