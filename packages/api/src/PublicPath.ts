/** The paths of the API outside the operation catalog. */

/** The WebSocket for events. */
export const REALTIME_PATH = "/api/v1/events/socket"
/** The machine-readable contract: OpenAPI 3.1. */
export const OPENAPI_PATH = "/openapi.json"
/** The contract of the WebSocket: AsyncAPI 3. */
export const ASYNCAPI_PATH = "/asyncapi.json"
/** The index of the documentation, in Markdown (https://llmstxt.org). */
export const LLMS_PATH = "/llms.txt"
/** The whole documentation, in Markdown. */
export const LLMS_FULL_PATH = "/llms-full.txt"
export const DOCS_PATH = "/docs"
/** The start page for browsers. For other clients it answers as the description of the API. */
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
