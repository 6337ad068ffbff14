import { type RealtimeTokenClaims, RealtimeTokens, Timestamp, Uuid } from "@agentos/core"
import { Effect, Layer, Option, Redacted, Schema } from "effect"
import { errors, type JWTVerifyGetKey, jwtVerify, SignJWT } from "jose"
import * as KeyMaterial from "./KeyMaterial.ts"

/** Whom a realtime token is for: the gateway, and nothing else that this service might sign tokens for. */
export const AUDIENCE = "agentos.realtime"

const ALGORITHM = "HS256"

/** Longest token that is looked at, in characters. Ours have about 300. */
const TOKEN_LENGTH_MAX = 1_024

export interface RealtimeTokensOptions {
  /** Who signs: the `iss` of every token. One deployment's own, so that another's tokens are refused. */
  readonly issuer: string
}

const decodeClaims = Schema.decodeUnknownEffect(Schema.Struct({ sub: Uuid.Uuid, ver: Schema.Int, exp: Schema.Finite }))

/**
 * Realtime tokens as JWT (RFC 7519) signed by HMAC-SHA256, through jose. The
 * header's `kid` is the key's id; `sub` is the tenant, `ver` its token version.
 * `exp` is in seconds with a fraction, so that no millisecond of the claims is lost.
 *
 * The keys are derived from the same secrets as the key ring's, for a purpose
 * of their own. Time is Effect's Clock. Fails like the key ring on unusable keys.
 */
export const layer = (
  config: KeyMaterial.KeyringConfig,
  options: RealtimeTokensOptions
): Layer.Layer<RealtimeTokens, KeyMaterial.KeyringMisconfigured> =>
  Layer.effect(
    RealtimeTokens,
    Effect.gen(function* () {
      const material = yield* KeyMaterial.make(config)
      const keys = material.derive("realtime-token")
      const activeKey = keys.get(material.activeKeyId)
      if (activeKey === undefined) return yield* Effect.die(new Error("key material without its active key"))

      // Nothing of the header has been looked at yet: whatever the type says, it may be any JSON.
      const keyOf: JWTVerifyGetKey = ({ kid }) => {
        const key = typeof kid === "string" && /^[1-9]\d{0,2}$/.test(kid) ? keys.get(Number(kid)) : undefined
        if (key === undefined) throw new errors.JWKSNoMatchingKey()
        return key
      }

      const issue = Effect.fnUntraced(function* (claims: RealtimeTokenClaims) {
        const issuedAt = yield* Timestamp.now
        const jwt = new SignJWT({ ver: claims.version })
          .setProtectedHeader({ alg: ALGORITHM, typ: "JWT", kid: String(material.activeKeyId) })
          .setIssuer(options.issuer)
          .setAudience(AUDIENCE)
          .setSubject(claims.tenantId)
          .setIssuedAt(Math.floor(issuedAt / Timestamp.SECOND))
          .setExpirationTime(claims.expiresAt / Timestamp.SECOND)
        return Redacted.make(yield* Effect.promise(() => jwt.sign(activeKey)), { label: "realtime token" })
      })

      const verify = Effect.fnUntraced(function* (token: string) {
        if (token.length > TOKEN_LENGTH_MAX || !isCanonical(token)) return Option.none<RealtimeTokenClaims>()
        const now = yield* Timestamp.now
        const payload = yield* Effect.promise(() =>
          jwtVerify(token, keyOf, {
            algorithms: [ALGORITHM],
            issuer: options.issuer,
            audience: AUDIENCE,
            currentDate: new Date(now),
            requiredClaims: ["sub", "ver", "exp"]
          }).then((verified) => verified.payload, ignoreRefusal)
        )
        if (payload === undefined) return Option.none<RealtimeTokenClaims>()
        return Option.filter(
          Option.map(yield* Effect.option(decodeClaims(payload)), (claims) => ({
            tenantId: claims.sub,
            version: claims.ver,
            expiresAt: Timestamp.Timestamp.make(Math.round(claims.exp * Timestamp.SECOND))
          })),
          // jose compares whole seconds.
          (claims) => claims.expiresAt > now
        )
      })

      return RealtimeTokens.of({ issue, verify })
    })
  )

/** jose says in its own errors what is wrong with a token; anything else is wrong here. */
const ignoreRefusal = (cause: unknown): undefined => {
  if (!(cause instanceof errors.JOSEError)) throw cause
}

/**
 * Whether the signature is spelled the one way that base64url has for its bytes. Decoders pass over the unused
 * bits of the last character, so that several texts would be the same token; the rest of the text is signed as it is.
 */
const isCanonical = (token: string): boolean => {
  const signature = token.slice(token.lastIndexOf(".") + 1)
  return Buffer.from(signature, "base64url").toString("base64url") === signature
}
