export { AgentOsApi } from "./AgentOsApi.ts"
export * from "./PublicPath.ts"
export * from "./RealtimeMessage.ts"
export * from "./SuccessEnvelope.ts"

export * from "./discovery/ApiDescription.ts"
export * from "./discovery/ApiIdentity.ts"
export * from "./discovery/Challenge.ts"
export * from "./discovery/ServiceRecord.ts"
export { API_CATALOG_TYPE, apiCatalog, documentLinks, x402Document } from "./discovery/WellKnown.ts"

export * from "./error/ErrorEnvelope.ts"
export type { FailedRequest } from "./error/ErrorParts.ts"
export * from "./error/ErrorStatus.ts"
export { errorCodesOf } from "./error/OperationErrors.ts"
export * from "./error/RequestError.ts"
export * from "./error/WireError.ts"

export { EVENT_EXAMPLES } from "./event/EventExamples.ts"

export { errorsByStatus, routerPath } from "./operation/Endpoint.ts"
export { type Bytes, type Operation, takesBody } from "./operation/Operation.ts"
export { describeInput, type Input, inputsOf, requiresBody } from "./operation/Inputs.ts"
export { operationOf, OPERATIONS, operations } from "./operation/Operations.ts"

export * from "./openapi/OpenApiDocument.ts"
export type { DocumentedServer } from "./openapi/OperationDocument.ts"
export type { JsonObject } from "./openapi/JsonSchema.ts"
