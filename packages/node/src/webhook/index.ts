/// <reference types="node" preserve="true" />
export * as AgentCallbackHttps from "./AgentCallbackHttps.ts"
export * as WebhookClientHttps from "./WebhookClientHttps.ts"
export { makeAnswerReader } from "./AnswerReader.ts"
export type { AllowedAgent } from "./CallbackUrl.ts"
export type { HostAddress, ResolveHost } from "./HostAddresses.ts"
export { isPublicAddress } from "./PublicAddress.ts"
