import type { Host } from "./Host.ts"

/** The variables that are secrets themselves; others name files, which stay readable for this user alone. */
const SECRETS: ReadonlySet<string> = new Set(["AGENTOS_PRIVATE_KEY", "AGENTOS_PASSWORD", "AGENTOS_TOKEN"])

/**
 * The environment for a process that this program starts: its own, without key, password and token. What is run for an
 * event works on what strangers sent; it should not hold the money meanwhile.
 */
export const childEnvironment = ({ env }: Host): Readonly<Record<string, string | undefined>> =>
  Object.fromEntries(Object.entries(env).filter(([name]) => !SECRETS.has(name)))
