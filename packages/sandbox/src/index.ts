/**
 * The parts of the sandbox, for tests that need one without the others. Stand-ins
 * at the wire: nothing of the product imports them.
 */
export { startChain, type Chain } from "./chain/Chain.ts"
export { describeChain, readChainDescription, type ChainDescription } from "./chain/ChainDescription.ts"
export { createChainKeys } from "./chain/ChainKeys.ts"
export * from "./chain/SandboxNetwork.ts"
export * from "./chain/SandboxUsdt.ts"
export { startFacilitator, type FacilitatorServer } from "./facilitator/FacilitatorServer.ts"
export { MailService } from "./relay/MailService.ts"
export { startRelay, type Relay, type RelayOptions } from "./relay/Relay.ts"
export { type GuardedProcess, type ProcessExit } from "./process/GuardedProcess.ts"
export { type ChildProgram, serve } from "./supervisor/ChildProcess.ts"
export { openDataDirectory } from "./supervisor/DataDirectory.ts"
export { findFreePorts } from "./supervisor/FreePort.ts"
export { openLog } from "./supervisor/LogFile.ts"
export {
  baseUrl,
  emailDomain,
  facilitatorUrl,
  programs,
  relayFaultsUrl,
  type RunLayout
} from "./supervisor/Programs.ts"
export type { SandboxDescription } from "./supervisor/SandboxFile.ts"
export { prepareServerFiles } from "./supervisor/ServerFiles.ts"
