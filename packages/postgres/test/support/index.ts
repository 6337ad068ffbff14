export * from "./Prepared.ts"
export * from "./copyDatabase.ts"
export * from "./startPostgres.ts"
