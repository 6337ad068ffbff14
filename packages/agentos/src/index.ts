/// <reference types="node" preserve="true" />
export {
  AgentOsHandlers,
  type AgentOs,
  type AgentOsOptions,
  agentOsLayer,
  createAgentOs,
  type TraceOptions
} from "./AgentOs.ts"
export {
  backgroundLayer,
  chainClocksLayer,
  coreLayer,
  policyLayer,
  type Ports,
  rateLimiterLayer,
  type ServerServices,
  type Setup
} from "./Composition.ts"
export type { OperatorContact } from "./OperatorChannels.ts"
export { AdapterError } from "./custom/AdapterError.ts"
export type { CarrierCall, CarrierReport, CustomCarrier } from "./custom/CustomCarrier.ts"
export type { CustomMail, PlainAttachment, PlainMail, PlainParsedMail } from "./custom/CustomMail.ts"
export type { CustomRail, RailPayment, RailRefund, RailState, RailTerms, ReceivedPayment } from "./custom/CustomRail.ts"
export * from "./Mail.ts"
export * from "./Payment.ts"
export * from "./Storage.ts"
export * from "./Telephony.ts"
export type { TraceExport } from "./Traces.ts"
export { AgentOsError } from "./inProcess/AgentOsError.ts"
export type { OperationRecord, Purchase, PurchaseRequest } from "./inProcess/Operations.ts"
export type { CallConnection, ReceivedMail, RefusedRecipient } from "./inProcess/Receiving.ts"
export type { PageOf, StoredContent, UseCases } from "./inProcess/UseCases.ts"

export type { DatabaseDiagnosis } from "@agentos/postgres"

/** The records of the core in the types of this package. */
export type {
  ChainTransfer,
  ErrorCode,
  FoundNumber,
  InboundEnvelope,
  InboundRefusal,
  NumberSearch,
  OutboundCall,
  OwnedNumber,
  PaidServiceId,
  PaymentState,
  RelayCommand,
  RelayEvent,
  SenderAuthentication,
  SendReceipt,
  ServiceId,
  Tenant,
  Voice
} from "@agentos/core"
