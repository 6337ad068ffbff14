/** The parts of this package that a facilitator in another package uses. */
export * as ConfigurationField from "../ConfigurationField.ts"
export * as EvmChain from "../EvmChain.ts"
export { isOutage, nodeMessages } from "../NodeFailure.ts"
export { misconfigured, type OfferedNetwork, PROVIDER } from "../PaymentNetwork.ts"
export { DEPLOYMENT_GAS_MAX, TRANSFER_GAS_MAX } from "../TransferCall.ts"
export * from "./Facilitator.ts"
export * as FacilitatorAnswer from "./FacilitatorAnswer.ts"
export { facilitatorError } from "./FacilitatorExchange.ts"
