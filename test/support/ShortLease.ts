import { fileURLToPath } from "node:url"

/** Duration of the leases of `SHORT_LEASE_SERVER`. */
export const SHORT_LEASE_MILLIS = 6_000

/** Module for AGENTOS_SANDBOX_SERVER_MODULE. */
export const SHORT_LEASE_SERVER = fileURLToPath(new URL("shortLeaseServerMain.ts", import.meta.url))
