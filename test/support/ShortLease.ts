import { fileURLToPath } from "node:url"

/** How long leases are of a server that is started as `SHORT_LEASE_SERVER`. */
export const SHORT_LEASE_MILLIS = 6_000

/** The module to name in AGENTOS_SANDBOX_SERVER_MODULE. */
export const SHORT_LEASE_SERVER = fileURLToPath(new URL("shortLeaseServerMain.ts", import.meta.url))
