import { RELAY_PORT_VARIABLE } from "./MailRig.ts"

/** Runs the production server with a relay of the test in place of that of the sandbox. */
process.env["AGENTOS_SMTP_RELAY_PORT"] = process.env[RELAY_PORT_VARIABLE]
await import("@agentos/server/main")
