import { Schema } from "effect"

/** The credential is malformed, unknown or revoked. */
export class CredentialRefused extends Schema.TaggedError<CredentialRefused>()("CredentialRefused", {
  message: Schema.String
}) {}

/** A realtime token in place of an access token, or a credential that is not a valid, unexpired realtime token. */
export class WrongCredential extends Schema.TaggedError<WrongCredential>()("WrongCredential", {
  message: Schema.String
}) {}

/** The operation needs the signature of a wallet. Sign the message of the challenge, and repeat the request with it. */
export class SignInRequired extends Schema.TaggedError<SignInRequired>()("SignInRequired", {
  /** The value of the PAYMENT-REQUIRED header. */
  challenge: Schema.String
}) {}

/** The wallet has signed in, but has bought nothing yet, so that no access token was issued to it. */
export class WalletUnknown extends Schema.TaggedError<WalletUnknown>()("WalletUnknown", { wallet: Schema.String }) {}

/** The sign-in message is not valid: issued for another operation, expired, used before, or signed by another wallet. */
export class SignInRefused extends Schema.TaggedError<SignInRefused>()("SignInRefused", {
  message: Schema.String
}) {}
