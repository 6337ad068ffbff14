import { isLoopback } from "@agentos/client"
import { Failure } from "@agentos/node/command-line"
import type { Host } from "../host/Host.ts"

const VARIABLES = ["https_proxy", "HTTPS_PROXY", "http_proxy", "HTTP_PROXY"]
const LOOPBACK = ["localhost", "127.0.0.1", "::1"]

let isInUse = false

/** Whether requests to this URL may go through a proxy of the environment. */
export const usesProxy = ({ env }: Host, url: string): boolean =>
  VARIABLES.some((name) => (env[name] ?? "") !== "") && !isLoopback(new URL(url).hostname)

/**
 * Sends the HTTP requests of this process through the proxy of the environment, which Node does not do by itself. Older
 * versions of Node, and WebSockets, connect directly.
 */
export const useProxy = async ({ env }: Host): Promise<void> => {
  if (isInUse || VARIABLES.every((name) => (env[name] ?? "") === "")) return
  const { default: http } = await import("node:http")
  const excluded = [env["no_proxy"] ?? env["NO_PROXY"] ?? "", ...LOOPBACK].filter((part) => part !== "")
  const { NO_PROXY: _replaced, ...others } = env
  try {
    http.setGlobalProxyFromEnv?.({ ...others, no_proxy: excluded.join(",") })
  } catch {
    // The value is not repeated: it may contain a password.
    throw new Failure({
      code: "CONFIGURATION",
      message: "HTTPS_PROXY or HTTP_PROXY is not a valid proxy URL, for example http://proxy.example:3128."
    })
  }
  isInUse = true
}
