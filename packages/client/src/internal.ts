/*
 * The parts that agentctl uses beside the client: of payments and signing in. The published package does not export them.
 */
export { AgentOsError, type MoneyMoved } from "./AgentOsError.ts"
export type { Answer } from "./http/Answer.ts"
export { dataIn, moneyMovedBy } from "./http/WireError.ts"
export { isLoopback } from "./Options.ts"
export { decimalOf, unitsOf } from "./payment/Amount.ts"
export { type Challenge, type ChallengeOption, chooseOption, expiryOf, readChallenge } from "./payment/Challenge.ts"
export {
  type Delivered,
  deliver,
  type DeliveryParts,
  reportedState,
  sendPayment,
  type Unanswered
} from "./payment/Delivery.ts"
export { isExpired, isOpen, mayHaveCharged, newPaymentId } from "./payment/Journal.ts"
export { signPayment } from "./payment/Signing.ts"
export { messageIn, signMessage } from "./session/SignIn.ts"
