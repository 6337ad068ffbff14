/// <reference types="node" preserve="true" />
/**
 * The HTTP API. `HttpApi` answers requests and takes upgrades, over the services of the core and `ServerSettings`;
 * `Server.layer` is a complete server around it, which listens.
 */
export * from "./DatabaseState.ts"
export * from "./Doctor.ts"
export * from "./ReferenceClocks.ts"
export { AccessLog, type AccessEntry, type AccessWriter } from "./edge/AccessLog.ts"
export { stoppingResponse } from "./connection/BrokenRequests.ts"
export { clockLevel, clockOffset } from "./health/ClockWatch.ts"
export { Liveness } from "./health/Liveness.ts"
export { processMetricsText } from "./health/ProcessMetrics.ts"
export { Upgrades } from "./connection/Upgrades.ts"
export { operatorTokenDigest } from "./handler/operator/OperatorRoute.ts"
export * as HttpApi from "./HttpApi.ts"
export * from "./connection/NodeServer.ts"
export { OperatorListener } from "./OperatorListener.ts"
export * as Server from "./Server.ts"
export * from "./ServerSettings.ts"
export { WorkerMetrics, type WorkerMetricsText } from "./WorkerMetrics.ts"
