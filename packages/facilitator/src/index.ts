export * from "./GasTransactionStore.ts"
export { selfFacilitator } from "./SelfFacilitator.ts"
export { SelfFacilitatorConfig } from "./SelfFacilitatorConfig.ts"
export * from "./NetworkConfig.ts"
