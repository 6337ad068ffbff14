/**
 * The server as anybody starts it, but for its public address: that of the front door before it, which a supervisor
 * does not know.
 */
process.env["AGENTOS_PUBLIC_URL"] = process.env["AGENTOS_TEST_PUBLIC_URL"]
await import(new URL("main.ts", import.meta.resolve("@agentos/http-server")).href)
