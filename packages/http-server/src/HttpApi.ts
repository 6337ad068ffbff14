import { OPERATIONS, ServiceUnavailable } from "@agentos/api"
import { Effect, Layer } from "effect"
import * as HttpEdge from "./edge/HttpEdge.ts"
import { Liveness } from "./health/Liveness.ts"
import { RateLimiting } from "./edge/RateLimiting.ts"
import { NewWork } from "./operation/NewWork.ts"
import { Readiness } from "./health/Readiness.ts"
import { RequestConcurrency } from "./edge/RequestConcurrency.ts"
import { Upgrades } from "./connection/Upgrades.ts"
import * as AuthRoutes from "./handler/AuthRoutes.ts"
import * as DiscoveryRoutes from "./handler/DiscoveryRoutes.ts"
import * as EmailRoutes from "./handler/EmailRoutes.ts"
import * as EventRoutes from "./handler/EventRoutes.ts"
import * as HealthRoutes from "./handler/HealthRoutes.ts"
import * as LimitRoutes from "./handler/LimitRoutes.ts"
import * as OperatorRoutes from "./handler/operator/OperatorRoutes.ts"
import * as PaidRoutes from "./handler/PaidRoutes.ts"
import * as PaymentRoutes from "./handler/PaymentRoutes.ts"
import * as PhoneRoutes from "./handler/PhoneRoutes.ts"
import * as IngressRoutes from "./ingress/IngressRoutes.ts"
import * as IngressSockets from "./ingress/IngressSockets.ts"
import { operationRoute } from "./operation/OperationRoute.ts"
import { BodyMemory } from "./operation/BodyMemory.ts"
import * as RealtimeGateway from "./realtime/RealtimeGateway.ts"

/** Listed, and never available. It asks for neither input nor payment. */
const domainRegistration = operationRoute(OPERATIONS.registerDomain, () =>
  Effect.fail(new ServiceUnavailable({ ever: false }))
)

/** Every route for clients and providers. Those of providers exist only if they are configured. */
const publicRoutes = Effect.gen(function* () {
  return [
    ...(yield* DiscoveryRoutes.routes),
    ...(yield* EmailRoutes.routes),
    ...(yield* EventRoutes.routes),
    ...(yield* PhoneRoutes.routes),
    ...(yield* PaidRoutes.routes),
    domainRegistration,
    ...(yield* AuthRoutes.routes),
    ...(yield* PaymentRoutes.routes),
    ...(yield* LimitRoutes.routes),
    ...(yield* HealthRoutes.routes),
    ...(yield* IngressRoutes.routes)
  ]
})

/**
 * Makes the handler of the requests of clients and providers, over the services of the core, `ServerSettings` and `limits`.
 * Every error is a response.
 */
export const make = Effect.flatMap(publicRoutes, HttpEdge.make)

/** Makes the handler of the operator's requests. Without an operator token it has no routes. */
export const makeOperator = Effect.flatMap(OperatorRoutes.routes, HttpEdge.make)

/** Makes the handler of all requests, for a host that decides by their paths who may reach it. */
export const makeAll = Effect.flatMap(
  Effect.zipWith(publicRoutes, OperatorRoutes.routes, (routes, others) => [...routes, ...others]),
  HttpEdge.make
)

/** The limits, liveness and readiness that all requests and sockets of a process share, and the dispatcher of upgrades. */
export const limits = Layer.mergeAll(
  BodyMemory.layer,
  Liveness.layer,
  NewWork.layer,
  Readiness.layer,
  RequestConcurrency.layer,
  Upgrades.layer
).pipe(Layer.provideMerge(RateLimiting.layer))

/** Takes the upgrades of realtime clients and of providers. Closes their sockets on release. */
export const sockets = Layer.mergeAll(RealtimeGateway.layer, IngressSockets.layer)
