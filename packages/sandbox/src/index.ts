/// <reference types="node" preserve="true" />
/** The parts of the sandbox, for tests that need one of them alone. No product code imports this package. */
export { type Agent, type AgentOptions, type ReceivedMessage, startAgent } from "./agent/Agent.ts"
export { openCertificateAuthority, type ServerCertificate } from "./agent/CertificateAuthority.ts"
export { type Carrier, type CarrierOptions, startCarrier } from "./carrier/Carrier.ts"
export { startChain, type Chain } from "./chain/Chain.ts"
export { readChainDescription, type ChainDescription } from "./chain/ChainDescription.ts"
export * from "./chain/SandboxAccount.ts"
export * from "./chain/SandboxNetwork.ts"
export { startFacilitator, type FacilitatorServer } from "./facilitator/FacilitatorServer.ts"
export { MailService } from "./relay/MailService.ts"
export { startRelay, type Relay, type RelayOptions } from "./relay/Relay.ts"
export { type GuardedProcess, type ProcessExit } from "./shared/GuardedProcess.ts"
export { type ChildProgram, openLog, outputRead, serve } from "./supervisor/ChildProcess.ts"
export { openDataDirectory } from "./supervisor/DataDirectory.ts"
export {
  baseUrl,
  carrierUrl,
  chainsOf,
  facilitatorUrl,
  paymentNetwork,
  programs,
  relayFaultsUrl
} from "./supervisor/Programs.ts"
export { emailDomain, layOut, type NetworkCount, type RunLayout } from "./supervisor/RunLayout.ts"
export type { SandboxDescription } from "./supervisor/SandboxFile.ts"
export { BoundScheme } from "./tour/BoundScheme.ts"
