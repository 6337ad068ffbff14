/** The limits of the HTTP API, for documents. */
export { REFUSALS } from "./connection/ConnectionGate.ts"
export { COST_ROWS } from "./edge/RequestCost.ts"
export {
  bodyLimitsOf,
  DEFAULT_BODY_LIMITS,
  HEADER_COUNT_LIMIT,
  HEADERS_LIMIT_BYTES,
  QUERY_PARAMETERS_LIMIT,
  TARGET_LIMIT_BYTES
} from "./edge/RequestLimits.ts"
export { HANDSHAKES, SOCKET_FRAMES, TENANT_FRAMES } from "./connection/SocketLimits.ts"
