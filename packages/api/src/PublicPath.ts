/** The paths of the API outside the operation catalog. */

/** The WebSocket for events. */
export const REALTIME_PATH = "/api/v1/events/socket"
/** The machine-readable contract: OpenAPI 3.1. */
export const OPENAPI_PATH = "/openapi.json"
/** The guide for agents, in Markdown. */
export const LLMS_PATH = "/llms.txt"
/** The guide for people. */
export const DOCS_PATH = "/docs"
/** The icon of the service, for directories. */
export const ICON_PATH = "/icon.svg"
/** Reports whether the process answers. */
export const LIVE_PATH = "/health/live"
/** Reports whether the server can work. */
export const READY_PATH = "/health/ready"
