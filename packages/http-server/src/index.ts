/**
 * The HTTP server of the API. `Server.layer` is all of it over the services of
 * the core and `ServerSettings`; `main.ts` is the program that composes it with
 * the adapters of production.
 */
export * as Server from "./Server.ts"
export * from "./NodeServer.ts"
export * from "./ServerSettings.ts"
