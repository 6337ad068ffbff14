import type { DefenseRig } from "../DefenseRig.ts"
import type { RigServer } from "../rigServerMain.ts"

export interface AttackStage {
  readonly rig: DefenseRig
  /** Aborted when the attack is over. */
  readonly signal: AbortSignal
  /** Counts an answer of the server, for the report. */
  readonly count: (what: string, by?: number) => void
  /** Records how long an honest client waited for something that only the attack observes. */
  readonly delayed: (what: string, millis: number) => void
}

/** What an attack needs outside of the service. */
export interface Outside {
  readonly server: Partial<RigServer>
  /** Prepares the service before the honest client starts. */
  readonly prepare: (rig: DefenseRig) => Promise<void>
  readonly run: (stage: AttackStage) => Promise<void>
  readonly close: () => Promise<void>
}

interface AttackFacts {
  readonly name: string
  /** Number of the finding that the attack reproduces; 0 without a finding. */
  readonly finding: number
  readonly summary: string
  /** The maximum of the attack that the server may accept, even if other clients are not affected. */
  readonly admitted?: { readonly what: string; readonly burst: number; readonly perSecond: number }
  /** Resolves, after the attack, to further problems. */
  readonly verify?: (rig: DefenseRig) => Promise<ReadonlyArray<string>>
}

/** One way to harm the service, played at full strength until it is stopped. `open` starts its outside systems. */
export type Attack = AttackFacts &
  ({ readonly run: (stage: AttackStage) => Promise<void> } | { readonly open: () => Promise<Outside> })

/** Runs several workers, each repeatedly until the attack ends. */
export const inParallel = async (
  { signal }: Pick<AttackStage, "signal">,
  workers: number,
  work: (worker: number) => Promise<void>
): Promise<void> => {
  const repeat = async (worker: number) => {
    while (!signal.aborted) await work(worker)
  }
  await Promise.all(Array.from({ length: workers }, (_, worker) => repeat(worker)))
}
