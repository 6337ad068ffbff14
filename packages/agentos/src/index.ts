/// <reference types="node" preserve="true" />
export { AgentOsHandlers, type AgentOs, type AgentOsOptions, agentOsLayer, createAgentOs } from "./AgentOs.ts"
export { backgroundLayer, coreLayer, policyLayer, type Ports, rateLimiterLayer, type Setup } from "./Composition.ts"
export * from "./Mail.ts"
export * from "./Payment.ts"
export * from "./Storage.ts"
export * from "./Telephony.ts"
export * from "./UseCases.ts"
