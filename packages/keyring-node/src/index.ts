export * as KeyringNode from "./KeyringNode.ts"
export { KeyringMisconfigured, type KeyringConfig, type KeySecret } from "./KeyMaterial.ts"
export * as RealtimeTokensJose from "./RealtimeTokensJose.ts"
