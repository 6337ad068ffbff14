export * from "./startPostgres.ts"
