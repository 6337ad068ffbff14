import { Option, Result } from "effect"
import { Hex } from "effect/encoding"
import * as Bytes from "../kernel/Bytes.ts"
import type { Keyring } from "../kernel/Keyring.ts"
import * as Uuid from "../kernel/Uuid.ts"

/**
 * The return path of an outbound message to one of its recipients: the local part to which other servers send delivery
 * status notifications and feedback reports. In hexadecimal, so that it survives a change of case; at most 64 characters
 * (RFC 5321, section 4.5.3.1.1). No mailbox can have it: `bounces` is reserved, and a plus sign marks a tag.
 *
 * Layout (before hexadecimal): key id 1 byte, messageId 16 bytes, place of the recipient 1 byte, MAC 10 bytes. The MAC is
 * over the parts before it; the place is then covered by a pad derived from the MAC, because it would tell a recipient
 * how many others there are at least, hidden ones included.
 *
 * The path of a message without a recipient has no place. Older versions used it for every recipient.
 */
const PREFIX = "bounces+"
const MAC_LENGTH = 10
const CLAIM_LENGTH = 17
const FORM = new RegExp(`^bounces\\+(?:[0-9a-f]{2})?[0-9a-f]{${(CLAIM_LENGTH + MAC_LENGTH) * 2}}$`, "i")

/** The message, and the recipient, of a return path. */
export interface Reported {
  readonly messageId: string
  /** The place of the recipient in the message's recipients; null for the path of a whole message. */
  readonly recipient: number | null
}

const macOf = (keyring: Keyring["Service"], claim: Uint8Array): Uint8Array | undefined =>
  keyring.mac(claim[0]!, "return-path", claim)?.subarray(0, MAC_LENGTH)

/** Returns the byte that covers the place of a recipient in a path with this MAC, which is shorter than any claim. */
const padOf = (keyring: Keyring["Service"], keyId: number, mac: Uint8Array): number =>
  keyring.mac(keyId, "return-path", mac)![0]!

/** Returns the local part of the return path of a message, to the recipient at this place or to all of them. */
export const make = (keyring: Keyring["Service"], messageId: string, recipient: number | null): string => {
  const message = Bytes.concat(Uint8Array.of(keyring.activeKeyId), Uuid.toBytes(messageId))
  const claim = recipient === null ? message : Bytes.concat(message, Uint8Array.of(recipient))
  const mac = macOf(keyring, claim)!
  const covered = recipient === null ? [] : [recipient ^ padOf(keyring, keyring.activeKeyId, mac)]
  return PREFIX + Hex.encode(Bytes.concat(message, Uint8Array.from(covered), mac))
}

/** Whether a local part has the form of a return path. It is not one of this service unless `read` accepts it. */
export const hasForm = (localPart: string): boolean => FORM.test(localPart)

/** Returns the message and recipient of a return path of this service; none for any other local part. */
export const read = (keyring: Keyring["Service"], localPart: string): Option.Option<Reported> => {
  if (!hasForm(localPart)) return Option.none()
  const bytes = Result.getOrThrow(Hex.decode(localPart.slice(PREFIX.length).toLowerCase()))
  const given = bytes.subarray(-MAC_LENGTH)
  const claim = bytes.slice(0, -MAC_LENGTH)
  const keyId = claim[0]!
  if (macOf(keyring, claim) === undefined) return Option.none()
  const hasRecipient = claim.length > CLAIM_LENGTH
  if (hasRecipient) claim[CLAIM_LENGTH]! ^= padOf(keyring, keyId, given)
  if (!Bytes.equalConstantTime(macOf(keyring, claim)!, given)) return Option.none()
  const messageId = Uuid.fromBytes(claim.subarray(1, CLAIM_LENGTH))
  return Option.some({ messageId, recipient: hasRecipient ? claim[CLAIM_LENGTH]! : null })
}
