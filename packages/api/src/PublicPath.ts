/** The paths of the API outside the operation catalog. */

/** The WebSocket for events. */
export const REALTIME_PATH = "/api/v1/events/socket"
/** The machine-readable contract: OpenAPI 3.1. */
export const OPENAPI_PATH = "/openapi.json"
/** The contract of the WebSocket: AsyncAPI 3. */
export const ASYNCAPI_PATH = "/asyncapi.json"
/** The guide for agents, in Markdown. */
export const LLMS_PATH = "/llms.txt"
/** The guide for people. */
export const DOCS_PATH = "/docs"
/** The guide for people, as at `DOCS_PATH`. */
export const ROOT_PATH = "/"
/** The paid services and the accepted payments, for crawlers of x402. */
export const X402_PATH = "/.well-known/x402"
/** Links to all documents (RFC 9727). */
export const API_CATALOG_PATH = "/.well-known/api-catalog"
/** The icon of the service, where browsers and directories look for it. */
export const ICON_PATH = "/favicon.svg"
/** Reports whether the process answers. */
export const LIVE_PATH = "/health/live"
/** Reports whether the server can work. */
export const READY_PATH = "/health/ready"
