export { runHere } from "./RunHere.ts"
