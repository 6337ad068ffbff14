import { Context, Effect } from "effect"
import * as Base62 from "../kernel/Base62.ts"
import * as Bytes from "../kernel/Bytes.ts"
import { Keyring } from "../kernel/Keyring.ts"
import type { ProviderError } from "../kernel/ProviderError.ts"
import type { InvalidRequest } from "../kernel/ResourceError.ts"
import * as Timestamp from "../kernel/Timestamp.ts"
import { SignInRefused } from "./Credentials.ts"
import type { WalletAddress } from "./Tenant.ts"

/**
 * Sign-in by wallet: the wallet signs a message (EIP-4361) that this server issued for one operation to one requester. The
 * challenge is not stored: its nonce is base62 of
 *
 *     key id (1 byte) · random (16) · MAC over all terms and the requester (32)
 *
 * A requester is a client by its network address (`ClientAddress.clientOf`). So the message is worth nothing to a site that
 * had the wallet's client fetch it, and gets the signature.
 */

/** How long a message is accepted after its challenge was issued. */
export const SIGN_IN_LIFETIME = Timestamp.MINUTE

const RANDOM_LENGTH = 16
const PREFIX_LENGTH = 1 + RANDOM_LENGTH
const MAC_LENGTH = 32

/** The operation that a wallet signs in to. A message for one operation is not valid for another. */
export interface SignInResource {
  readonly url: string
  /** Shown by the wallet before it signs: printable ASCII without quotes, on one line. */
  readonly statement: string
}

/** The terms of a message. Only the wallet's address and chain are added to them. */
export interface SignInTerms {
  /** Host and port of the service. */
  readonly domain: string
  readonly uri: string
  readonly statement: string
  readonly nonce: string
  readonly issuedAt: Timestamp.Timestamp
  readonly expiresAt: Timestamp.Timestamp
}

/** A signed message, decoded from a SIGN-IN-WITH-X header. Nothing in it is trusted before it is checked. */
export interface SignInMessage {
  readonly terms: SignInTerms
  /** The wallet that claims to have signed. */
  readonly address: string
  /** CAIP-2 id of the wallet's chain. */
  readonly chainId: string
  readonly signature: string
}

/** The port to the wire format of sign-in messages: x402's extension `sign-in-with-x`. */
export class SignInProtocol extends Context.Service<
  SignInProtocol,
  {
    /** Returns the PAYMENT-REQUIRED header that asks for a signature over these terms, and for no payment. */
    readonly encodeChallenge: (resource: SignInResource, terms: SignInTerms) => string
    /** Decodes the SIGN-IN-WITH-X header. Checks its shape and limits, the chain and the kind of the signature. */
    readonly decode: (header: string) => Effect.Effect<SignInMessage, InvalidRequest>
    /**
     * Returns the wallet, if it signed this message. Computed locally for a key; a smart account is asked on its chain,
     * which fails with `ProviderError` if it can't be read.
     */
    readonly authenticate: (message: SignInMessage) => Effect.Effect<WalletAddress, SignInRefused | ProviderError>
  }
>()("@agentos/core/tenancy/SignInProtocol") {}

const termsOf = ({ statement, url }: SignInResource, nonce: string, issuedAt: Timestamp.Timestamp): SignInTerms => ({
  domain: new URL(url).host,
  uri: url,
  statement,
  nonce,
  issuedAt,
  expiresAt: Timestamp.add(issuedAt, SIGN_IN_LIFETIME)
})

const macOf = (
  keyring: Keyring["Service"],
  { issuedAt, statement, uri }: Pick<SignInTerms, "issuedAt" | "statement" | "uri">,
  requester: string,
  prefix: Uint8Array
): Uint8Array | undefined => {
  const text = JSON.stringify([uri, statement, issuedAt, requester])
  return keyring.mac(prefix[0]!, "sign-in", Bytes.concat(prefix, Bytes.fromText(text)))
}

/** Returns new terms for a message that signs in to the operation. */
export const issue = Effect.fnUntraced(function* (
  resource: SignInResource,
  requester: string
): Effect.fn.Return<SignInTerms, never, Keyring> {
  const keyring = yield* Keyring
  const issuedAt = yield* Timestamp.now
  const prefix = Bytes.concat(Uint8Array.of(keyring.activeKeyId), yield* keyring.randomBytes(RANDOM_LENGTH))
  const mac = macOf(keyring, termsOf(resource, "", issuedAt), requester, prefix)!
  return termsOf(resource, Base62.encode(Bytes.concat(prefix, mac)), issuedAt)
})

const isIssued = (keyring: Keyring["Service"], terms: SignInTerms, requester: string): boolean => {
  const bytes = Base62.decode(terms.nonce, PREFIX_LENGTH + MAC_LENGTH)
  if (bytes === undefined) return false
  const mac = macOf(keyring, terms, requester, bytes.subarray(0, PREFIX_LENGTH))
  return mac !== undefined && Bytes.equalConstantTime(mac, bytes.subarray(PREFIX_LENGTH))
}

const COMPARED = ["domain", "uri", "statement"] as const

/**
 * Fails unless this server issued the terms of a message for this operation to this requester, and less than a minute ago.
 * Does not check the signature.
 */
export const check = Effect.fnUntraced(function* (
  resource: SignInResource,
  terms: SignInTerms,
  requester: string
): Effect.fn.Return<void, SignInRefused, Keyring> {
  const keyring = yield* Keyring
  const refuse = (message: string) => new SignInRefused({ message })
  const expected = termsOf(resource, terms.nonce, terms.issuedAt)
  const different = COMPARED.find((field) => terms[field] !== expected[field])
  if (different !== undefined) {
    return yield* refuse(`The ${different} of the sign-in message must be ${JSON.stringify(expected[different])}`)
  }
  if (terms.expiresAt !== expected.expiresAt) {
    return yield* refuse("The expirationTime of the sign-in message is not the one of its challenge")
  }
  if (!isIssued(keyring, terms, requester)) {
    return yield* refuse(
      "The nonce of the sign-in message was not issued by this server for this operation and time, or not to this " +
        "network address. Request the message from the address that signs in"
    )
  }
  if (terms.expiresAt <= (yield* Timestamp.now)) {
    return yield* refuse(`The sign-in message expired at ${Timestamp.toIso(terms.expiresAt)}`)
  }
})
