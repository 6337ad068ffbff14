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
import { rebuiltProof } from "./ThiefRace.ts"
import { stoppedServer } from "./StoppedServerRace.ts"

/** Every race, in the order in which they are run. */
export const races: ReadonlyArray<Race> = [
  sameReplay,
  oneProofTwoKeys,
  oneKeyTwoProofs,
  oneProofTwoEndpoints,
  twoWalletsOneName,
  sameMessage,
  twoChangesOneMailbox,
  rebuiltProof,
  stoppedServer
]
