export const API_NAME = "AgentOS"

/** The version of the contract and of the OpenAPI document. */
export const API_VERSION = "1.0.0"
