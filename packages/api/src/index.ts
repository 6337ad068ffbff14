export * from "./ApiIdentity.ts"
export * from "./PublicPath.ts"
export * from "./RealtimeMessage.ts"
export * from "./SuccessEnvelope.ts"

export type { JsonObject } from "./schema/JsonSchema.ts"
export * from "./schema/NextCall.ts"

export { EVENT_EXAMPLES } from "./example/EventExamples.ts"

export * from "./operation/ApiDescription.ts"
export { type Bytes, type ApiOperation, takesBody } from "./operation/ApiOperation.ts"
export { describeInput, type Input, inputsOf, requiresBody } from "./operation/Inputs.ts"
export { operationOf, OPERATIONS, operations } from "./operation/Operations.ts"
export * from "./operation/ServiceRecord.ts"

export { notFoundMessage } from "./error/DomainErrorParts.ts"
export * from "./error/ErrorEnvelope.ts"
export { errorExample } from "./error/ErrorExamples.ts"
export * from "./error/ErrorStatus.ts"
export { errorCodesOf, errorsByStatus } from "./error/OperationErrors.ts"
export * from "./error/RequestError.ts"
export * from "./error/WireError.ts"

export * from "./discovery/Challenge.ts"
export * from "./discovery/ServiceRecords.ts"
export { API_CATALOG_TYPE, apiCatalog, documentLinks, x402Document } from "./discovery/WellKnown.ts"

export { asyncApiDocument } from "./asyncapi/AsyncApiDocument.ts"
export * from "./openapi/OpenApiDocument.ts"
export type { DocumentedServer } from "./openapi/OperationDocument.ts"
