import type { Environment } from "@agentos/api"
import type { Capabilities } from "@agentos/core"
import { Context, type Duration, type Redacted } from "effect"
import type { IpNetwork } from "effect/net"

/** Rate limit of one client: `burst` requests at once, and `perSecond` in the long run. */
export interface RateLimit {
  readonly burst: number
  readonly perSecond: number
}

/** Settings of the HTTP API. */
export class ServerSettings extends Context.Service<
  ServerSettings,
  {
    readonly environment: Environment
    /**
     * The base URL for clients, without a trailing slash. The proxy must remove a path in it: routes do not include it.
     */
    readonly publicUrl: string
    readonly capabilities: Capabilities
    /** Null disables rate limits. */
    readonly rateLimit: RateLimit | null
    /** Networks of the proxies whose X-Forwarded-For header is trusted. */
    readonly trustedProxies: ReadonlyArray<IpNetwork.IpNetwork>
    /** Origins whose pages may sign in with a wallet, beside those of this server's own site. */
    readonly signInOrigins: ReadonlyArray<string>
    /** The token for the operator routes; null disables them. */
    readonly operatorToken: Redacted.Redacted | null
    readonly site: SiteFolders
  }
>()("@agentos/http-server/ServerSettings") {}

export class ListenerSettings extends Context.Service<
  ListenerSettings,
  {
    readonly host: string
    /** 0 selects a free port. */
    readonly port: number
    /** Where the routes of the operator are served; null serves them nowhere. */
    readonly operator: { readonly host: string; readonly port: number } | null
    /** How long requests in progress may continue once the server stops. */
    readonly drainTimeout: Duration.Duration
  }
>()("@agentos/http-server/ListenerSettings") {}

/**
 * The folders of the built documentation and packages, with the same paths as on the server. A promise may take seconds, because a
 * checkout builds the site when it is first read; it rejects if that fails.
 */
export interface SiteFolders {
  /** Has `llms.txt`, `llms-full.txt`, and below `docs` the pages in Markdown and the OpenAPI document. */
  readonly texts: () => Promise<string>
  /** Has `index.html`, and below `docs` the pages as HTML with their assets. */
  readonly pages: () => Promise<string>
  /** Has packed packages, and `index.json`, which lists them with their hashes. */
  readonly downloads: () => Promise<string>
}
