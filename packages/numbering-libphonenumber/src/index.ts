export * as NumberingPlanLibphonenumber from "./NumberingPlanLibphonenumber.ts"
