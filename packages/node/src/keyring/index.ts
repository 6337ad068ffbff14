/// <reference types="node" preserve="true" />
export * as KeyringNode from "./KeyringNode.ts"
export { keyringFlaw, KeyringMisconfigured, type KeyringConfig, type KeySecret, parseKeyring } from "./KeyMaterial.ts"
export * as RealtimeTokensJose from "./RealtimeTokensJose.ts"
