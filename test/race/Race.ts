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
  /** How many plays go on side by side, where it is another number than usual: then they use fresh wallets alone. */
  readonly lanes?: number
  readonly play: (round: Round) => Promise<void>
}
