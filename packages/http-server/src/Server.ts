// Imports the module alone: the whole package costs 20 MB and half a second more.
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import { Effect, Layer } from "effect"
import { HttpServer } from "effect/http"
import { NetAddress } from "effect/net"
import * as HttpEdge from "./edge/HttpEdge.ts"
import { RateLimiting } from "./edge/RateLimiting.ts"
import { RequestConcurrency } from "./edge/RequestConcurrency.ts"
import { Upgrades } from "./edge/Upgrades.ts"
import * as AuthRoutes from "./handler/AuthRoutes.ts"
import * as DiscoveryRoutes from "./handler/DiscoveryRoutes.ts"
import * as EmailRoutes from "./handler/EmailRoutes.ts"
import * as EventRoutes from "./handler/EventRoutes.ts"
import * as HealthRoutes from "./handler/HealthRoutes.ts"
import * as OperatorRoutes from "./handler/OperatorRoutes.ts"
import * as PaidRoutes from "./handler/PaidRoutes.ts"
import * as PhoneRoutes from "./handler/PhoneRoutes.ts"
import * as UnavailableRoutes from "./handler/UnavailableRoutes.ts"
import * as IngressRoutes from "./ingress/IngressRoutes.ts"
import * as IngressSockets from "./ingress/IngressSockets.ts"
import { NodeServer } from "./NodeServer.ts"
import * as RealtimeGateway from "./realtime/RealtimeGateway.ts"
import { BodyMemory } from "./operation/BodyMemory.ts"
import { ServerSettings } from "./ServerSettings.ts"

/** Every route of this server. Those of the operator and of providers exist only if they are configured. */
const routes = Effect.gen(function* () {
  return [
    ...(yield* DiscoveryRoutes.routes),
    ...(yield* EmailRoutes.routes),
    ...(yield* EventRoutes.routes),
    ...(yield* PhoneRoutes.routes),
    ...(yield* PaidRoutes.routes),
    ...UnavailableRoutes.routes,
    ...(yield* AuthRoutes.routes),
    ...(yield* HealthRoutes.routes),
    ...(yield* OperatorRoutes.routes),
    ...(yield* IngressRoutes.routes)
  ]
})

const application = Layer.unwrap(
  Effect.gen(function* () {
    return HttpServer.serve(yield* HttpEdge.make(yield* routes))
  })
).pipe(Layer.provide([BodyMemory.layer, RequestConcurrency.layer]))

const listener = Layer.unwrap(
  Effect.gen(function* () {
    const server = yield* NodeServer
    const { drainTimeout, host, port } = yield* ServerSettings
    return NodeHttpServer.layer(() => server, { host, port, gracefulShutdownTimeout: drainTimeout })
  })
)

/**
 * Closes the remaining connections once the drain timeout has passed, so that idle clients do not delay the shutdown.
 */
const cutOff = Layer.effectDiscard(
  Effect.acquireRelease(NodeServer, (server) => Effect.sync(() => server.closeAllConnections()))
)

/**
 * The whole server over the services of the core. Listens when it is built. On release it first closes the sockets of
 * the realtime gateway and of providers, then accepts no new connections, then gives requests in progress time to finish.
 */
export const layer = Layer.mergeAll(RealtimeGateway.layer, IngressSockets.layer).pipe(
  Layer.provide(Upgrades.layer),
  Layer.provideMerge(application),
  Layer.provideMerge(cutOff),
  Layer.provideMerge(listener),
  Layer.provideMerge(NodeServer.layer),
  Layer.provide(RateLimiting.layer)
)

export const address = Effect.map(HttpServer.HttpServer, (server) => {
  const { address: bound } = server
  if (bound._tag === "UnixPathAddress") throw new Error("the server listens on a path and not on a port")
  return { host: NetAddress.formatIp(bound.address), port: bound.port }
})
