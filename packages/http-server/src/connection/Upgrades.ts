import { Context, Effect, Layer, type Scope } from "effect"
import type { IncomingMessage } from "node:http"
import type { Duplex } from "node:stream"
import { answerRefusedHandshake } from "./BrokenRequests.ts"
import { ConnectionGate } from "./ConnectionGate.ts"
import { pathOf, repeatedHeader } from "../edge/RequestLimits.ts"

/** Takes a connection over from HTTP. */
export type Upgrade = (request: IncomingMessage, stream: Duplex, head: Buffer) => void

/** Refuses an upgrade and closes its connection, to which the server's timeouts no longer apply. */
export const refuseUpgrade = (stream: Duplex, status: string): void => {
  stream.end(`HTTP/1.1 ${status}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`, () => stream.destroy())
}

interface Taker {
  readonly matches: (path: string) => boolean
  upgrade: Upgrade | undefined
}

/** Dispatches WebSocket upgrades by path. Every upgrade passes here and goes to one taker. */
export class Upgrades extends Context.Service<
  Upgrades,
  {
    /** Passes an upgrade to the taker of its path. Refuses it if the path has no taker. */
    readonly dispatch: Upgrade
    /** Takes the upgrades of the matching paths until the scope closes. After that, they are answered with 503. */
    readonly take: (matches: (path: string) => boolean, upgrade: Upgrade) => Effect.Effect<void, never, Scope.Scope>
    /** Answers a handshake that exceeds a rate limit with 429. */
    readonly refuse: (stream: Duplex, retryAfterSeconds: number) => void
  }
>()("@agentos/http-server/connection/Upgrades") {
  static readonly layer = Layer.effect(
    Upgrades,
    Effect.gen(function* () {
      const gate = yield* ConnectionGate
      const takers: Array<Taker> = []
      const dispatch: Upgrade = (request, stream, head) => {
        // No other listener exists until a socket is accepted, and an unhandled error would end the process.
        stream.on("error", () => stream.destroy())
        if (repeatedHeader(request.rawHeaders) !== undefined) return refuseUpgrade(stream, "400 Bad Request")
        const path = pathOf(request.url ?? "")
        const taker = takers.find(({ matches }) => matches(path))
        if (taker === undefined) return refuseUpgrade(stream, "404 Not Found")
        if (taker.upgrade === undefined) return refuseUpgrade(stream, "503 Service Unavailable")
        taker.upgrade(request, stream, head)
      }
      return Upgrades.of({
        dispatch,
        refuse: (stream, retryAfterSeconds) => {
          gate.countRefusal(stream)
          answerRefusedHandshake(stream, retryAfterSeconds)
        },
        take: (matches, upgrade) =>
          Effect.asVoid(
            Effect.acquireRelease(
              Effect.sync(() => {
                const taker: Taker = { matches, upgrade }
                takers.push(taker)
                return taker
              }),
              (taker) => Effect.sync(() => void (taker.upgrade = undefined))
            )
          )
      })
    })
  )
}
