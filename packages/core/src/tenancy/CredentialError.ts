import { Schema } from "effect"

/** The credential is malformed, unknown or revoked. */
export class CredentialRefused extends Schema.TaggedError<CredentialRefused>()("CredentialRefused", {
  message: Schema.String
}) {}

/** A credential of the other kind: a realtime token where an access token belongs, or the other way round, or an expired one. */
export class WrongCredential extends Schema.TaggedError<WrongCredential>()("WrongCredential", {
  message: Schema.String
}) {}
