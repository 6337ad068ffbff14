import { createHash } from "node:crypto"

/** No local part has a colon, so the hash of one is none. */
export const ERASED_PREFIX = "erased:"

/** Returns what is stored of the local part of an erased tenant, so that no one else gets its address. */
export const erasedLocalPart = (localPart: string): string =>
  ERASED_PREFIX + createHash("sha256").update(localPart).digest("hex")
