import { createHash } from "node:crypto"

/** A local part has no colon, so a hash is never a local part. */
export const ERASED_PREFIX = "erased:"

/** Returns the text that replaces the local part of an erased tenant, so that its address is not assigned again. */
export const erasedLocalPart = (localPart: string): string =>
  ERASED_PREFIX + createHash("sha256").update(localPart).digest("hex")
