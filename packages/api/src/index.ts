export * from "./PublicPath.ts"
export * from "./RealtimeMessage.ts"
export * from "./SuccessEnvelope.ts"

export * from "./discovery/ApiDescription.ts"
export * from "./discovery/ApiIdentity.ts"
export * from "./discovery/Challenge.ts"
export * from "./discovery/ServiceRecord.ts"
export { API_CATALOG_TYPE, apiCatalog, documentLinks, x402Document } from "./discovery/WellKnown.ts"

export * from "./error/ErrorEnvelope.ts"
export type { FailedRequest } from "./error/ErrorEnvelope.ts"
export { errorExample } from "./error/ErrorExamples.ts"
export { ERROR_RECOVERY } from "./error/ErrorStatus.ts"
export * from "./error/ErrorStatus.ts"
export { errorCodesOf, errorsByStatus } from "./error/OperationErrors.ts"
export * from "./error/RequestError.ts"
export * from "./error/WireError.ts"

export { EVENT_EXAMPLES } from "./event/EventExamples.ts"

export { type Bytes, type Operation, takesBody } from "./operation/Operation.ts"
export { describeInput, type Input, inputsOf, requiresBody } from "./operation/Inputs.ts"
export { operationOf, OPERATIONS, operations } from "./operation/Operations.ts"

export { asyncApiDocument } from "./asyncapi/AsyncApiDocument.ts"
export * from "./openapi/OpenApiDocument.ts"
export type { DocumentedServer } from "./openapi/OperationDocument.ts"
export type { JsonObject } from "./openapi/JsonSchema.ts"
