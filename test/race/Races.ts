import { sharedAllowance } from "./InboundRace.ts"
import { pausedServer } from "./PausedServerRace.ts"
import { releasedMeanwhile } from "./ReleaseRace.ts"
import { repeatedReports } from "./ReportRace.ts"
import { requestRaces } from "./RequestRaces.ts"
import type { Race } from "./Round.ts"
import { interceptedProof, rebuiltProof, submittedProof } from "./ThiefRace.ts"

/** Every race, in the order in which they are played. */
export const races: ReadonlyArray<Race> = [
  ...requestRaces,
  rebuiltProof,
  interceptedProof,
  submittedProof,
  releasedMeanwhile,
  sharedAllowance,
  repeatedReports,
  pausedServer
]
