export * from "./Prepared.ts"
export * from "./SmallDisk.ts"
export * from "./copyDatabase.ts"
export * from "./startPostgres.ts"
