/** The paths of the API that are no operation of the catalog. */

/** Where the WebSocket of the events is. */
export const REALTIME_PATH = "/api/v1/events/socket"
/** The machine-readable contract: OpenAPI 3.1. */
export const OPENAPI_PATH = "/openapi.json"
/** The guide for agents, in Markdown. */
export const LLMS_PATH = "/llms.txt"
/** The guide for people. */
export const DOCS_PATH = "/docs"
/** Whether the process answers at all. */
export const LIVE_PATH = "/health/live"
/** Whether it can do its work. */
export const READY_PATH = "/health/ready"
