export { FacilitatorConfig } from "./facilitator/FacilitatorConfig.ts"
export { PaymentNetwork } from "./PaymentNetwork.ts"
export * as PaymentRailX402 from "./PaymentRailX402.ts"
export { TOKEN_PRESETS, type TokenPreset } from "./TokenPreset.ts"
