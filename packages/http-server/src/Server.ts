// Imports the module alone: the whole package costs 20 MB and half a second more.
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import { Effect, Layer } from "effect"
import { HttpServer } from "effect/http"
import { NetAddress } from "effect/net"
import * as ConnectionGate from "./connection/ConnectionGate.ts"
import { Upgrades } from "./connection/Upgrades.ts"
import * as HttpApi from "./HttpApi.ts"
import { NodeServer } from "./connection/NodeServer.ts"
import { OperatorListener } from "./OperatorListener.ts"
import { ListenerSettings } from "./ServerSettings.ts"

const application = Layer.unwrap(Effect.map(HttpApi.make, (handler) => HttpServer.serve(handler)))

/** Passes upgrades on, instead of to the listener that serving the application has added. */
export const upgradeListener = Layer.effectDiscard(
  Effect.gen(function* () {
    const server = yield* NodeServer
    const { dispatch } = yield* Upgrades
    yield* Effect.acquireRelease(
      Effect.sync(() => server.removeAllListeners("upgrade").on("upgrade", dispatch)),
      () => Effect.sync(() => server.off("upgrade", dispatch))
    )
  })
)

const listener = Layer.unwrap(
  Effect.gen(function* () {
    const server = yield* NodeServer
    const { drainTimeout, host, port } = yield* ListenerSettings
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
export const layer = HttpApi.sockets.pipe(
  Layer.provide(upgradeListener),
  Layer.provideMerge(Layer.merge(application, OperatorListener.layer)),
  Layer.provideMerge(cutOff),
  Layer.provideMerge(listener),
  Layer.provideMerge(HttpApi.limits),
  Layer.provide(ConnectionGate.layer),
  Layer.provideMerge(NodeServer.layer)
)

export const address = Effect.map(HttpServer.HttpServer, (server) => {
  const { address: bound } = server
  if (bound._tag === "UnixPathAddress") throw new Error("the server listens on a path and not on a port")
  return { host: NetAddress.formatIp(bound.address), port: bound.port }
})
