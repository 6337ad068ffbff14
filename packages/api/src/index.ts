export * from "./PublicPath.ts"
export * from "./RealtimeMessage.ts"
