export { AgentOs } from "./AgentOs.ts"
export {
  AgentOsError,
  type ClientErrorCode,
  type ErrorCode,
  type ErrorDetails,
  type ErrorParts,
  type MoneyMoved,
  type NextCall,
  type WireErrorCode
} from "./AgentOsError.ts"
export type { components } from "./generated/Components.ts"
export type { CallOptions, PlainRequest } from "./http/Caller.ts"
export type { Answer } from "./http/Answer.ts"
export type { InputOf, OperationId, OutputOf } from "./http/OperationTypes.ts"
export type { ForwardInput, Mail, MarkChange, MessageRecord, ReplyInput } from "./mail/Mail.ts"
export { textOfHtml } from "./mail/HtmlText.ts"
export type {
  CodeOptions,
  Mailbox,
  MailboxRecord,
  MessageOptions,
  NewMessageOptions,
  ReceivedCode,
  ReceivedLink,
  ThreadOptions,
  ThreadRecord,
  WaitOptions
} from "./mail/Mailboxes.ts"
export {
  type AcceptedAsset,
  type AgentOsOptions,
  type Clock,
  type ConnectionChange,
  isLoopback,
  type PaymentOption,
  type PaymentQuote,
  type Retry,
  type SpendLimits,
  systemClock,
  type TokenStore,
  type WalletOpener,
  type WebSocketLike
} from "./Options.ts"
export type { EthersWallet, TypedData, WalletAccount } from "./payment/Account.ts"
export { decimalOf, heldOf, priceOf, unitsOf } from "./payment/Amount.ts"
export type { NetworkFunds } from "./payment/Funds.ts"
export {
  isOpen,
  type JournalEntry,
  type JournalState,
  mayHaveCharged,
  type PaymentJournal,
  type PaymentState
} from "./payment/Journal.ts"
export { networkNameOf } from "./payment/KnownTokens.ts"
export type { Payment, Spent } from "./payment/Payments.ts"
export type { Call, CallRecord, Transcript } from "./phone/Call.ts"
export type {
  BuyNumberInput,
  CallsOptions,
  PhoneNumber,
  PhoneNumberRecord,
  PlaceCallInput
} from "./phone/PhoneNumbers.ts"
export type { Speech, Turn, TurnMessage } from "./phone/Turn.ts"
export type { AgentEvent, EventOf, EventOptions, EventRecord, EventType } from "./realtime/Events.ts"
export { backoff, type Follower, followGateway, type Gateway } from "./realtime/Gateway.ts"
export {
  type Acknowledged,
  NoSession,
  Session as GatewaySession,
  type ServerMessage as GatewayMessage
} from "./realtime/Session.ts"
