import { ClientAddress, RateLimiter, type RateRule } from "@agentos/core"
import { Context, Effect, Layer, Result } from "effect"
import { IpNetwork, NetAddress } from "effect/net"
import type { IncomingMessage, ServerResponse } from "node:http"
import type { Socket } from "node:net"
import type { Duplex } from "node:stream"
import type { ReadingError } from "./BrokenRequests.ts"
import { NodeServer } from "./NodeServer.ts"
import { ServerSettings } from "../ServerSettings.ts"

/** Refusals of one address per second before its new connections are closed unread. */
export const REFUSALS: RateRule = { name: "refusals", burst: 100, perSecond: 100, isShared: false }

const REFUSAL_COST = 1
/** Parsing one socket read of a chunked body, or of many pipelined requests, wastes up to 30 ms. */
const WASTED_READ_COST = 20
/** A connection for each request that is not HTTP: 20 per second. */
const BROKEN_REQUEST_COST = 5

interface Gate {
  /** Counts a handshake on this connection that a rate limit refused. Requests are counted automatically. */
  readonly countRefusal: (connection: Duplex) => void
}

/** The gate of the server that listens. Without one, as in the server of another host, nothing is counted. */
export const ConnectionGate = Context.Reference<Gate>("@agentos/http-server/connection/ConnectionGate", {
  defaultValue: () => ({ countRefusal: () => undefined })
})

/**
 * Closes new connections of an address, before reading anything, while that address is refused more than 100 times per
 * second, or sends more than 20 requests per second that are not HTTP. A 429 response costs a third of a millisecond, and an attacker does not wait. Trusted proxies are exempt,
 * because they forward many clients.
 */
export const layer = Layer.effect(
  ConnectionGate,
  Effect.gen(function* () {
    const server = yield* NodeServer
    const limiter = yield* RateLimiter.RateLimiter
    const { trustedProxies } = yield* ServerSettings
    const run = Effect.runSyncWith(yield* Effect.context<never>())

    const isExempt = (address: string): boolean => {
      const ip = NetAddress.ipFromString(address)
      if (Result.isFailure(ip)) return true
      const canonical = NetAddress.toCanonical(ip.success)
      return trustedProxies.some((network) => IpNetwork.contains(network, canonical))
    }

    const charge = (connection: Duplex, cost: number): void => {
      const { remoteAddress } = connection as Socket
      if (remoteAddress === undefined || isExempt(remoteAddress)) return
      run(limiter.charge(REFUSALS, ClientAddress.clientOf(remoteAddress), cost))
    }

    const admit = (connection: Duplex): void => {
      const { remoteAddress } = connection as Socket
      if (remoteAddress === undefined || isExempt(remoteAddress)) return
      if (!run(limiter.take(REFUSALS, ClientAddress.clientOf(remoteAddress), 0)).isAdmitted) connection.destroy()
    }

    // A request that arrives too slowly, or whose client has gone or was answered before, costs nothing more.
    const countBroken = ({ code }: ReadingError, connection: Duplex): void => {
      if (!connection.writable || code?.startsWith("HPE_") !== true) return
      admit(connection)
      charge(connection, BROKEN_REQUEST_COST)
    }

    const count = (request: IncomingMessage, response: ServerResponse): void => {
      if (request.headers["transfer-encoding"] !== undefined) charge(request.socket, WASTED_READ_COST)
      response.once("close", () => {
        if (response.statusCode === 429) charge(request.socket, REFUSAL_COST)
      })
    }

    const countDropped = ({ socket }: IncomingMessage): void => charge(socket, WASTED_READ_COST)

    yield* Effect.acquireRelease(
      Effect.sync(() => {
        server
          .prependListener("connection", admit)
          .prependListener("clientError", countBroken)
          .on("request", count)
          .on("dropRequest", countDropped)
      }),
      () =>
        Effect.sync(() => {
          server
            .off("connection", admit)
            .off("clientError", countBroken)
            .off("request", count)
            .off("dropRequest", countDropped)
        })
    )
    return { countRefusal: (connection: Duplex) => charge(connection, REFUSAL_COST) }
  })
)
