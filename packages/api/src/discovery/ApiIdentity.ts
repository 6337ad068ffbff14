export const API_NAME = "AgentOS"

/** The version of the contract, which is that of the OpenAPI document. */
export const API_VERSION = "1.0.0"
