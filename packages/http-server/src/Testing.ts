/** The functions that read what strangers send, for the suites that measure how their processor time grows. */
export { forwardedAddress } from "./connection/ForwardedAddress.ts"
export { FrameGate } from "./connection/FrameGate.ts"
export { isCurrent } from "./edge/PreparedDocument.ts"
export { headerFlaw, repeatedHeader } from "./edge/RequestLimits.ts"
export { documentRoute } from "./edge/Route.ts"
export { makeRouter } from "./edge/Routing.ts"
export { matchPath } from "./edge/IngressPath.ts"
export { parseBody } from "./operation/Decoding.ts"
