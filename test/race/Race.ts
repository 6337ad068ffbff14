import type { Round } from "./Round.ts"

/** A way in which requests get into each other's way. */
export interface Race {
  readonly name: string
  /** How many wallets that the service has never seen each play takes. */
  readonly freshWallets: number
  /** How many rounds one play is: more than one where they share a wait. */
  readonly roundsPerPlay: number
  /** Whether nothing else may go on meanwhile. */
  readonly alone: boolean
  readonly play: (round: Round) => Promise<void>
}
