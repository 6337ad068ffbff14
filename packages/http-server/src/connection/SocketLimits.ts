import { ClientAddress, RateLimiter, type RateRule } from "@agentos/core"
import { Effect, Option } from "effect"
import type { IncomingMessage } from "node:http"
import { forwardedAddress } from "./ForwardedAddress.ts"
import { findRefusal, RateLimiting } from "../edge/RateLimiting.ts"
import { REFUSED_TOKEN_COST } from "../edge/RequestCost.ts"
import { ServerSettings } from "../ServerSettings.ts"

/** Handshakes of one address, in addition to their cost in its request limit. */
export const HANDSHAKES: RateRule = { name: "handshakes", burst: 600, perSecond: 10, isShared: false }
/** Frames of one socket, and of all sockets of a tenant on one server. Pings and pongs count. */
export const SOCKET_FRAMES: RateRule = { name: "socket-frames", burst: 4_000, perSecond: 4_000, isShared: false }
export const TENANT_FRAMES: RateRule = { name: "tenant-frames", burst: 8_000, perSecond: 8_000, isShared: false }
/** Number of frames that are taken from the limits at a time. */
export const FRAMES_AT_ONCE = 100

/** Limits sockets by address and by tenant. Decisions are synchronous, because sockets are served in callbacks. */
export const make = Effect.gen(function* () {
  const limiter = yield* RateLimiter.RateLimiter
  const { chargeAddress, countAddress } = yield* RateLimiting
  const { trustedProxies } = yield* ServerSettings
  const run = Effect.runSyncWith(yield* Effect.context<never>())

  const isAdmitted = (rule: RateRule, subject: string, cost: number): boolean =>
    run(Effect.map(limiter.take(rule, subject, cost), (decision) => decision.isAdmitted))

  return {
    /** Returns the remote address of a client that requests a handshake. */
    addressOf: (request: IncomingMessage): string => forwardedAddress(request, trustedProxies),
    /** Counts a handshake. Returns the seconds after which it may be retried, or 0 if it is admitted. */
    countHandshake: (address: string): number =>
      run(
        Effect.gen(function* () {
          const refusal = findRefusal(yield* countAddress(Option.some(address), 1))
          if (refusal !== undefined) return refusal.retryAfterSeconds
          return (yield* limiter.take(HANDSHAKES, ClientAddress.clientOf(address))).retryAfterSeconds
        })
      ),
    /** Takes the next frames of a socket from its limits. Returns false if they are exceeded. */
    admitFrames: (tenantId: string, sessionId: string): boolean =>
      isAdmitted(SOCKET_FRAMES, sessionId, FRAMES_AT_ONCE) && isAdmitted(TENANT_FRAMES, tenantId, FRAMES_AT_ONCE),
    /** Returns a function that counts a frame of a provider in a session, and returns false if there are too many. */
    relayFrames: (frames: Pick<RateRule, "burst" | "perSecond">): ((sessionId: string) => boolean) => {
      const rule: RateRule = { name: "relay-frames", ...frames, isShared: false }
      return (sessionId) => isAdmitted(rule, sessionId, 1)
    },
    /** Counts a socket that was closed because of its frames. */
    countRefusedFrames: RateLimiter.countRefusal("refused-frames"),
    /** Charges an address for a token or signature that is not valid. */
    chargeRefusedToken: (address: string): Effect.Effect<void> =>
      chargeAddress(Option.some(address), REFUSED_TOKEN_COST)
  }
})
export type SocketLimits = Effect.Success<typeof make>
