import { Schema } from "effect"

/** The credential is malformed, unknown or revoked. */
export class CredentialRefused extends Schema.TaggedError<CredentialRefused>()("CredentialRefused", {
  message: Schema.String
}) {}

/** A realtime token in place of an access token, or a credential that is not a valid, unexpired realtime token. */
export class WrongCredential extends Schema.TaggedError<WrongCredential>()("WrongCredential", {
  message: Schema.String
}) {}
