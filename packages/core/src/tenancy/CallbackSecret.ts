import { Redacted } from "effect"
import * as Base62 from "../kernel/Base62.ts"
import * as Bytes from "../kernel/Bytes.ts"
import type { Keyring } from "../kernel/Keyring.ts"
import * as Uuid from "../kernel/Uuid.ts"

/**
 * What callbacks about a number are signed with: `cs_v1_` and base62 of a MAC over the number's id and the secret's
 * version. Nothing that opens it is stored: it is derived when it is shown at the purchase, and when it signs.
 */
export const PREFIX = "cs_v1_"

export interface CallbackSecretClaims {
  readonly keyId: number
  readonly phoneNumberId: string
  readonly version: number
}

/** The secret of these claims, or undefined when the ring has lost their key. */
export const derive = (
  keyring: Keyring["Service"],
  { keyId, phoneNumberId, version }: CallbackSecretClaims
): Redacted.Redacted<string> | undefined => {
  const versionBytes = new Uint8Array(4)
  new DataView(versionBytes.buffer).setUint32(0, version)
  const mac = keyring.mac(keyId, "callback-secret", Bytes.concat(Uuid.toBytes(phoneNumberId), versionBytes))
  return mac === undefined ? undefined : Redacted.make(PREFIX + Base62.encode(mac), { label: "callback secret" })
}
