import { Effect, Option, Redacted } from "effect"
import * as Base62 from "../kernel/Base62.ts"
import * as Bytes from "../kernel/Bytes.ts"
import { Keyring } from "../kernel/Keyring.ts"
import * as Uuid from "../kernel/Uuid.ts"
import type { TenantId } from "./Tenant.ts"

/**
 * The access token of a tenant: `at_v1_` and base62 of
 *
 *     key id (1 byte) · tenant id (16) · token version (4) · MAC (32)
 *
 * The token is never stored: it is derived whenever it is shown, so a tenant always gets the same token while key and
 * version stay the same.
 */
export const PREFIX = "at_v1_"

const CLAIMS_LENGTH = 21
const MAC_LENGTH = 32
const LENGTH = CLAIMS_LENGTH + MAC_LENGTH

/** The claims of a token with a valid MAC. The caller must check that `version` is still the tenant's. */
export interface AccessTokenClaims {
  readonly keyId: number
  readonly tenantId: TenantId
  readonly version: number
}

/** Returns the token of these claims, or undefined if the ring lacks their key. */
export const derive = (
  keyring: Keyring["Service"],
  claims: AccessTokenClaims
): Redacted.Redacted<string> | undefined => {
  const bytes = new Uint8Array(CLAIMS_LENGTH)
  bytes[0] = claims.keyId
  bytes.set(Uuid.toBytes(claims.tenantId), 1)
  new DataView(bytes.buffer).setUint32(17, claims.version)
  const mac = keyring.mac(claims.keyId, "access-token", bytes)
  return mac === undefined
    ? undefined
    : Redacted.make(PREFIX + Base62.encode(Bytes.concat(bytes, mac)), { label: "access token" })
}

/** Returns the claims of a token of this server, or none. Checks the MAC without the database. */
export const open = (token: string): Effect.Effect<Option.Option<AccessTokenClaims>, never, Keyring> =>
  Effect.map(Keyring, (keyring) => {
    if (!token.startsWith(PREFIX)) return Option.none()
    const bytes = Base62.decode(token.slice(PREFIX.length), LENGTH)
    if (bytes === undefined) return Option.none()
    const claims = bytes.subarray(0, CLAIMS_LENGTH)
    const mac = keyring.mac(claims[0]!, "access-token", claims)
    if (mac === undefined || !Bytes.equalConstantTime(mac, bytes.subarray(CLAIMS_LENGTH))) return Option.none()
    return Option.some({
      keyId: claims[0]!,
      tenantId: Uuid.fromBytes(claims.subarray(1, 17)),
      version: new DataView(claims.buffer, claims.byteOffset).getUint32(17)
    })
  })
