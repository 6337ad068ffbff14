import { Option, Result } from "effect"
import { Hex } from "effect/encoding"
import * as Bytes from "../kernel/Bytes.ts"
import type { Keyring } from "../kernel/Keyring.ts"
import * as Uuid from "../kernel/Uuid.ts"

/**
 * The return path of an outbound message: the local part to which other servers send delivery status notifications and
 * feedback reports. In hexadecimal, so that it survives a change of case; at most 64 characters (RFC 5321, section
 * 4.5.3.1.1). No mailbox can have it: `bounces` is reserved, and a plus sign marks a tag.
 *
 * Layout (before hexadecimal): key id 1 byte, messageId 16 bytes, MAC 10 bytes.
 */
const PREFIX = "bounces+"
const MAC_LENGTH = 10
const CLAIM_LENGTH = 17
const FORM = new RegExp(`^bounces\\+[0-9a-f]{${(CLAIM_LENGTH + MAC_LENGTH) * 2}}$`, "i")

const macOf = (keyring: Keyring["Service"], claim: Uint8Array): Uint8Array | undefined =>
  keyring.mac(claim[0]!, "return-path", claim)?.subarray(0, MAC_LENGTH)

/** Returns the local part of the return path of a message. */
export const make = (keyring: Keyring["Service"], messageId: string): string => {
  const claim = Bytes.concat(Uint8Array.of(keyring.activeKeyId), Uuid.toBytes(messageId))
  return PREFIX + Hex.encode(Bytes.concat(claim, macOf(keyring, claim)!))
}

/** Whether a local part has the form of a return path. It is not one of this service unless `read` accepts it. */
export const hasForm = (localPart: string): boolean => FORM.test(localPart)

/** Returns the messageId of a return path that this service made; none for any other local part. */
export const read = (keyring: Keyring["Service"], localPart: string): Option.Option<string> => {
  if (!hasForm(localPart)) return Option.none()
  const bytes = Result.getOrThrow(Hex.decode(localPart.slice(PREFIX.length).toLowerCase()))
  const claim = bytes.subarray(0, CLAIM_LENGTH)
  const mac = macOf(keyring, claim)
  return mac !== undefined && Bytes.equalConstantTime(mac, bytes.subarray(CLAIM_LENGTH))
    ? Option.some(Uuid.fromBytes(claim.subarray(1)))
    : Option.none()
}
