import { sharedAllowance } from "./InboundRace.ts"
import { lastNumber } from "./LastNumberRace.ts"
import {
  manyAdditions,
  manyExtensions,
  phoneKeyTwoProofs,
  phoneProofTwoEndpoints,
  phoneProofTwoKeys,
  samePhoneReplay
} from "./PhoneRaces.ts"
import type { Race } from "./Race.ts"
import { releasedMeanwhile } from "./ReleaseRace.ts"
import { repeatedReports } from "./ReportRace.ts"
import {
  oneKeyTwoProofs,
  oneProofTwoEndpoints,
  oneProofTwoKeys,
  sameMessage,
  sameReplay,
  twoChangesOneMailbox,
  twoWalletsOneName
} from "./RequestRaces.ts"
import { interceptedProof, rebuiltProof, submittedProof } from "./ThiefRace.ts"
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
  interceptedProof,
  submittedProof,
  samePhoneReplay,
  phoneProofTwoKeys,
  phoneKeyTwoProofs,
  phoneProofTwoEndpoints,
  lastNumber,
  manyExtensions,
  manyAdditions,
  releasedMeanwhile,
  sharedAllowance,
  repeatedReports,
  stoppedServer
]
