export { COUNTRIES } from "./NumberingPlanLibphonenumber.ts"
export * as NumberingPlanLibphonenumber from "./NumberingPlanLibphonenumber.ts"
