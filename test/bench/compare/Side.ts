/** One of the programs that are compared. */
export interface Side {
  readonly name: string
  /** Works for about this time. Resolves to the number of items, and rejects if an answer is not the expected one. */
  readonly work: (millis: number) => Promise<Work>
  /** The processor time of its server so far. */
  readonly cpuMillis?: () => number
  /** Runs before each measured turn, with its round. */
  readonly prepare?: (round: number) => Promise<unknown>
}

export interface Work {
  readonly count: number
  readonly millis: number
}

/** The side of another build, which its own bench runs in a process of its own. */
export interface OtherBuild {
  /** Returns the side of the comparison with this title. Comparisons must be asked for in the order of the bench. */
  readonly side: (title: string) => Promise<Side>
}
