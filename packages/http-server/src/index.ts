/**
 * The HTTP server of the API. `Server.layer` is the complete server over the services of the core and `ServerSettings`;
 * `main.ts` is the program that composes it with the production adapters.
 */
export * as Server from "./Server.ts"
export * from "./NodeServer.ts"
export * from "./ServerSettings.ts"
