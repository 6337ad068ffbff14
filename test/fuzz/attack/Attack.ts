import type { DefenseRig } from "../DefenseRig.ts"

/** What an attack is given. */
export interface AttackStage {
  readonly rig: DefenseRig
  /** Aborted when the attack is over. */
  readonly signal: AbortSignal
  /** Counts what the server answered, for the report. */
  readonly count: (what: string, by?: number) => void
}

/** One way to harm the service, played at full strength until it is stopped. */
export interface Attack {
  readonly name: string
  /** Of the findings that the attack reproduces; 0 for none. */
  readonly finding: number
  readonly summary: string
  readonly run: (stage: AttackStage) => Promise<void>
  /** What the server may let through of the attack, at most, though nobody else suffers from it. */
  readonly admitted?: { readonly what: string; readonly burst: number; readonly perSecond: number }
  /** Resolves, after the attack, to what else went wrong. */
  readonly verify?: (rig: DefenseRig) => Promise<ReadonlyArray<string>>
}

/** Runs so many workers at a time, each of them over and over until the attack is over. */
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
