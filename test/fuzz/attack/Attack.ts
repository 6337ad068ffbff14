import type { DefenseRig } from "../DefenseRig.ts"

export interface AttackStage {
  readonly rig: DefenseRig
  /** Aborted when the attack is over. */
  readonly signal: AbortSignal
  /** Counts an answer of the server, for the report. */
  readonly count: (what: string, by?: number) => void
}

/** One way to harm the service, played at full strength until it is stopped. */
export interface Attack {
  readonly name: string
  /** Number of the finding that the attack reproduces; 0 if there is none. */
  readonly finding: number
  readonly summary: string
  readonly run: (stage: AttackStage) => Promise<void>
  /** The maximum of the attack that the server may accept, even if other clients are not affected. */
  readonly admitted?: { readonly what: string; readonly burst: number; readonly perSecond: number }
  /** Resolves, after the attack, to further problems. */
  readonly verify?: (rig: DefenseRig) => Promise<ReadonlyArray<string>>
}

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
