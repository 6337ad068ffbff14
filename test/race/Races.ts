import type { Race } from "./Race.ts"
import {
  oneKeyTwoProofs,
  oneProofTwoEndpoints,
  oneProofTwoKeys,
  sameMessage,
  sameReplay,
  twoChangesOneMailbox,
  twoWalletsOneName
} from "./RequestRaces.ts"

/** Every race, in the order in which they are run. */
export const races: ReadonlyArray<Race> = [
  sameReplay,
  oneProofTwoKeys,
  oneKeyTwoProofs,
  oneProofTwoEndpoints,
  twoWalletsOneName,
  sameMessage,
  twoChangesOneMailbox
]
