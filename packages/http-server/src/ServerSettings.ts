import type { Environment } from "@agentos/api"
import type { Capabilities } from "@agentos/core"
import { Context, type Duration, type Redacted } from "effect"
import type { IpNetwork } from "effect/net"

/** How many requests one client may make: `burst` at once, and `perSecond` in the long run. */
export interface RateLimit {
  readonly burst: number
  readonly perSecond: number
}

/** What the HTTP server is told about itself. */
export class ServerSettings extends Context.Service<
  ServerSettings,
  {
    readonly environment: Environment
    readonly host: string
    /** 0 takes a free one. */
    readonly port: number
    /** Where clients reach it, without a slash at the end. A path in it is for the proxy to take away: routes have none of it. */
    readonly publicUrl: string
    readonly capabilities: Capabilities
    /** Null where nothing is limited. */
    readonly rateLimit: RateLimit | null
    /** Whose X-Forwarded-For is believed. */
    readonly trustedProxies: ReadonlyArray<IpNetwork.IpNetwork>
    /** What the carrier's requests are signed with; null where none are taken. */
    readonly carrierToken: Redacted.Redacted | null
    /** What opens the routes of whoever runs the server; null where there are none. */
    readonly operatorToken: Redacted.Redacted | null
    /** For how long requests under way may go on once the server stops. */
    readonly drainTimeout: Duration.Duration
  }
>()("@agentos/http-server/ServerSettings") {}
