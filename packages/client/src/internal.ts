/*
 * The parts that agentctl uses beside the client. The published package does not export them.
 */
export { isLoopback } from "./Options.ts"
export { decimalOf, unitsOf } from "./payment/Amount.ts"
