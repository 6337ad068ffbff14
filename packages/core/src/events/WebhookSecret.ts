import { Redacted } from "effect"
import { Base64 } from "effect/encoding"
import * as Bytes from "../kernel/Bytes.ts"
import type { Keyring } from "../kernel/Keyring.ts"
import * as Uuid from "../kernel/Uuid.ts"

/**
 * The secret that signs the deliveries to an event webhook: `whsec_` and base64 of a MAC over the webhook's id and the
 * secret's version, as Standard Webhooks writes secrets (https://www.standardwebhooks.com). The secret is never stored:
 * it is derived when it is shown, and whenever it signs.
 */
export const PREFIX = "whsec_"

export interface WebhookSecretClaims {
  readonly keyId: number
  readonly webhookId: string
  readonly version: number
}

/** Returns the secret of these claims, or undefined if the ring lacks their key. */
export const derive = (
  keyring: Keyring["Service"],
  { keyId, version, webhookId }: WebhookSecretClaims
): Redacted.Redacted<string> | undefined => {
  const versionBytes = new Uint8Array(4)
  new DataView(versionBytes.buffer).setUint32(0, version)
  const mac = keyring.mac(keyId, "webhook-secret", Bytes.concat(Uuid.toBytes(webhookId), versionBytes))
  return mac === undefined ? undefined : Redacted.make(PREFIX + Base64.encode(mac), { label: "webhook secret" })
}
