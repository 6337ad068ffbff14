import { isLocal } from "../config/Settings.ts"
import { Failure } from "../failure/Failure.ts"
import type { Host } from "../host/Host.ts"

const VARIABLES = ["https_proxy", "HTTPS_PROXY", "http_proxy", "HTTP_PROXY"]
/** Nothing leads to this machine by way of another. */
const THIS_MACHINE = ["localhost", "127.0.0.1", "::1"]

let isInUse = false

/** Whether the environment names a proxy by which an address may be asked. */
export const namesProxy = ({ env }: Host, url: string): boolean =>
  VARIABLES.some((name) => (env[name] ?? "") !== "") && !isLocal(new URL(url).hostname)

/**
 * Sends what this process asks by HTTP from now on by the proxy that the environment names, as other programs do; Node
 * does not by itself. A Node that is too old for it asks directly, as WebSockets always do.
 */
export const useProxy = async ({ env }: Host): Promise<void> => {
  if (isInUse || VARIABLES.every((name) => (env[name] ?? "") === "")) return
  const { default: http } = await import("node:http")
  const excepted = [env["no_proxy"] ?? env["NO_PROXY"] ?? "", ...THIS_MACHINE].filter((part) => part !== "")
  const { NO_PROXY: _replaced, ...others } = env
  try {
    http.setGlobalProxyFromEnv?.({ ...others, no_proxy: excepted.join(",") })
  } catch {
    // It is not repeated: a password may be in it.
    throw new Failure({
      code: "CONFIGURATION",
      message: "HTTPS_PROXY or HTTP_PROXY is no address of a proxy, as http://proxy.example:3128 is."
    })
  }
  isInUse = true
}
