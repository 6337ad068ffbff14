export const API_NAME = "AgentOS"

/** The version of the contract and of the OpenAPI document. */
export const API_VERSION = "1.0.0"

/** The icon of the service as SVG: an envelope. */
export const ICON = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 64 64"><title>${API_NAME}</title><rect width="64" height="64" rx="14" fill="#1d4ed8"/><path d="M13 20h38v25H13zl19 14 19-14" fill="none" stroke="#fff" stroke-width="4" stroke-linejoin="round"/></svg>
`
