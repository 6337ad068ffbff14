export { isCountry } from "./NumberingPlanLibphonenumber.ts"
export * as NumberingPlanLibphonenumber from "./NumberingPlanLibphonenumber.ts"
