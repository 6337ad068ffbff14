import { Redacted } from "effect"
import * as Base62 from "../kernel/Base62.ts"
import * as Bytes from "../kernel/Bytes.ts"
import type { Keyring } from "../kernel/Keyring.ts"
import * as Uuid from "../kernel/Uuid.ts"

/**
 * The secret that signs callbacks about a number: `cs_v1_` and base62 of a MAC over the number's id and the secret's
 * version. The secret is never stored: it is derived when it is shown at the purchase, and whenever it signs.
 */
export const PREFIX = "cs_v1_"

export interface CallbackSecretClaims {
  readonly keyId: number
  readonly phoneNumberId: string
  readonly version: number
}

/** Returns the secret of these claims, or undefined if the ring lacks their key. */
export const derive = (
  keyring: Keyring["Service"],
  { keyId, phoneNumberId, version }: CallbackSecretClaims
): Redacted.Redacted<string> | undefined => {
  const versionBytes = new Uint8Array(4)
  new DataView(versionBytes.buffer).setUint32(0, version)
  const mac = keyring.mac(keyId, "callback-secret", Bytes.concat(Uuid.toBytes(phoneNumberId), versionBytes))
  return mac === undefined ? undefined : Redacted.make(PREFIX + Base62.encode(mac), { label: "callback secret" })
}
