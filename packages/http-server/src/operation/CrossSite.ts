import { CrossSiteSignIn } from "@agentos/api"
import { SettingName } from "@agentos/core"
import { Effect } from "effect"
import type { HttpServerRequest } from "effect/http"
import { ServerSettings } from "../ServerSettings.ts"

const LOOPBACK_HOSTS = new Set(["localhost", "127.0.0.1", "[::1]"])

const hostOf = (origin: string): string | undefined => URL.parse(origin)?.host
const isLoopback = (origin: string): boolean => LOOPBACK_HOSTS.has(URL.parse(origin)?.hostname ?? "")

/**
 * Fails if a browser sends the request for a page of another site, which could hand the signature of its visitor over. Pages
 * of the configured origins may sign in, and in a sandbox those of this machine. A browser says which page it is by
 * Sec-Fetch-Site and Origin, which no page can change; other clients send neither.
 */
export const refuseCrossSite = Effect.fnUntraced(function* ({ headers }: HttpServerRequest.HttpServerRequest) {
  const { environment, publicUrl, signInOrigins } = yield* ServerSettings
  const { origin, "sec-fetch-site": site } = headers
  const isCrossSite =
    site === undefined ? origin !== undefined && hostOf(origin) !== hostOf(publicUrl) : site === "cross-site"
  if (!isCrossSite) return
  if (origin !== undefined && (signInOrigins.includes(origin) || (environment === "sandbox" && isLoopback(origin))))
    return
  return yield* new CrossSiteSignIn({ publicUrl, setting: (yield* SettingName)("signInOrigins") })
})
