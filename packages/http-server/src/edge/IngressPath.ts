import type { ProviderIngress } from "@agentos/core"

/** Returns whether the path belongs to providers, configured or not. */
export const isWebhook = (path: string): boolean => path.startsWith("/webhooks/")

const PARAMETER = /\{(\w+)\}$/

/** Returns the template without its parameter. */
const prefixOf = (template: string): string => template.replace(PARAMETER, "")

/** Returns the name of the parameter in a template; empty if it has none. */
export const parameterOf = (template: string): string => PARAMETER.exec(template)?.[1] ?? ""

/** Returns the value of the parameter in a path (empty if the template has none), or undefined if it does not match. */
export const matchPath = (template: string, path: string): string | undefined => {
  const prefix = prefixOf(template)
  if (prefix === template) return path === template ? "" : undefined
  const value = path.startsWith(prefix) ? path.slice(prefix.length) : "/"
  return value.includes("/") ? undefined : value
}

/** Returns a function that hides the secrets of sockets in a path, for logs: everything after the prefix. */
export const secretsHidden = (providers: ReadonlyArray<ProviderIngress>): ((path: string) => string) => {
  const templates = providers.flatMap(({ sockets }) => sockets.map((endpoint) => endpoint.path))
  return (path) => templates.find((template) => path.startsWith(prefixOf(template))) ?? path
}
