/**
 * The parts of the sandbox, for tests that need one without the others. Stand-ins
 * at the wire: nothing of the product imports them.
 */
export { type Carrier, type CarrierOptions, startCarrier } from "./carrier/Carrier.ts"
export { startChain, type Chain } from "./chain/Chain.ts"
export { readChainDescription, type ChainDescription } from "./chain/ChainDescription.ts"
export * from "./chain/SandboxNetwork.ts"
export * from "./chain/SandboxUsdt.ts"
export { startFacilitator, type FacilitatorServer } from "./facilitator/FacilitatorServer.ts"
export { MailService } from "./relay/MailService.ts"
export { startRelay, type Relay, type RelayOptions } from "./relay/Relay.ts"
export { type GuardedProcess, type ProcessExit } from "./process/GuardedProcess.ts"
export { type ChildProgram, serve } from "./supervisor/ChildProcess.ts"
export { openDataDirectory } from "./supervisor/DataDirectory.ts"
export { openLog } from "./supervisor/LogFile.ts"
export { baseUrl, carrierUrl, facilitatorUrl, programs, relayFaultsUrl } from "./supervisor/Programs.ts"
export { emailDomain, layOut, type RunLayout } from "./supervisor/RunLayout.ts"
export type { SandboxDescription } from "./supervisor/SandboxFile.ts"
export { BoundScheme } from "./tour/BoundScheme.ts"
export { type Agent, type AgentOptions, type ReceivedMessage, startAgent } from "./webhook/Agent.ts"
export { openCertificateAuthority, type ServerCertificate } from "./webhook/CertificateAuthority.ts"
