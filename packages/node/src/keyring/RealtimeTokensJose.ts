import { type RealtimeTokenClaims, RealtimeTokens, Timestamp, Uuid } from "@agentos/core"
import { Effect, Layer, Option, Redacted, Schema } from "effect"
import { errors, type JWTVerifyGetKey, jwtVerify, SignJWT } from "jose"
import * as KeyMaterial from "./KeyMaterial.ts"

/** The audience of realtime tokens: only the gateway, and no other use of tokens that this service may sign. */
export const AUDIENCE = "agentos.realtime"

const ALGORITHM = "HS256"

/** Maximum length of a token in characters. Valid tokens have about 300. */
const TOKEN_LENGTH_MAX = 1_024

export interface RealtimeTokensOptions {
  /** The `iss` of every token. It must be unique to the deployment, so that tokens of others are refused. */
  readonly issuer: string
}

const decodeClaims = Schema.decodeUnknownEffect(Schema.Struct({ sub: Uuid.Uuid, ver: Schema.Int, exp: Schema.Finite }))

/**
 * Realtime tokens as JWT (RFC 7519) signed by HMAC-SHA256, through jose. The header's `kid` is the key's id; `sub` is
 * the tenant, `ver` its token version. `exp` is in seconds with a fraction, so that it keeps the milliseconds of the
 * claims.
 *
 * The keys are derived from the same secrets as the key ring's, for a separate purpose. Time is Effect's Clock. Fails
 * like the key ring if the keys are not valid.
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

      // The header is not validated yet: `kid` may be any JSON despite its type.
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

/** jose reports an invalid token by its own errors; any other error is a defect. */
const ignoreRefusal = (cause: unknown): undefined => {
  if (!(cause instanceof errors.JOSEError)) throw cause
}

/**
 * Returns whether the signature is in its canonical base64url form. Decoders ignore the unused bits of the last
 * character, so that several texts would be the same token. The signature covers the rest of the text as written.
 */
const isCanonical = (token: string): boolean => {
  const signature = token.slice(token.lastIndexOf(".") + 1)
  return Buffer.from(signature, "base64url").toString("base64url") === signature
}
