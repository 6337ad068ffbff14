export { isPublicAddress } from "./PublicAddress.ts"
