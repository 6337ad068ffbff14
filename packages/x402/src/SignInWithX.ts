import {
  invalid,
  type InvalidRequest,
  type JsonBudget,
  issuesOf,
  type SignInMessage,
  SignInProtocol,
  SignInRefused,
  type SignInResource,
  type SignInTerms,
  scanJson,
  type ProviderError,
  Timestamp,
  type WalletAddress,
  walletAddress
} from "@agentos/core"
import { encodePaymentRequiredHeader } from "@x402/core/http"
import { Effect, Layer, Option, Result, Schema } from "effect"
import { getAddress, hashMessage, isHex, recoverMessageAddress, size } from "viem"
import * as EvmChain from "./chain/EvmChain.ts"
import { offer, type OfferedNetwork, type PaymentNetwork } from "./network/PaymentNetwork.ts"
import { hexOf } from "./network/AuthorizedTransfer.ts"
import { findFlaw } from "./chain/SmartAccount.ts"
import { ECDSA_BYTES } from "./network/SimulatedCall.ts"

/**
 * Sign-in by wallet in x402's extension `sign-in-with-x` (specs/extensions/sign-in-with-x.md), on EVM chains: by keys, and
 * by smart accounts on the networks that accept their payments. The signed text is that of EIP-4361.
 */

const EXTENSION = "sign-in-with-x"
const HEADER = "SIGN-IN-WITH-X"

/** Length limit of the header in characters. A message of this service takes fewer than 1,500. */
const HEADER_LENGTH_MAX = 8_192
const JSON_BUDGET: JsonBudget = {
  depth: 4,
  elements: 32,
  keys: 64,
  keyBytes: 128,
  stringBytes: 4_096,
  plainBytes: 4_096
}

/** The version of EIP-4361, which the message contains. */
const MESSAGE_VERSION = "1"

/** A moment exactly as the server writes it: ISO 8601 in UTC with milliseconds. */
const Moment = Schema.String.check(
  Schema.makeFilter((text) => {
    const millis = Date.parse(text)
    return (!Number.isNaN(millis) && new Date(millis).toISOString() === text) || "must be a time as in the challenge"
  })
)
const momentOf = (text: string): Timestamp.Timestamp => Timestamp.Timestamp.make(Date.parse(text))

/** The fields that the server's challenge contains, and those that only the wallet knows. */
const Payload = Schema.Struct({
  domain: Schema.String,
  address: Schema.String.check(Schema.isPattern(/^0x[0-9a-fA-F]{40}$/, { expected: "an EVM address" })),
  statement: Schema.optionalKey(Schema.String),
  uri: Schema.String,
  version: Schema.Literal(MESSAGE_VERSION),
  chainId: Schema.String,
  type: Schema.String,
  nonce: Schema.String,
  issuedAt: Moment,
  expirationTime: Moment,
  notBefore: Schema.optionalKey(Schema.Never),
  requestId: Schema.optionalKey(Schema.Never),
  resources: Schema.optionalKey(Schema.Never),
  signatureScheme: Schema.optionalKey(Schema.String),
  signature: Schema.String
})
const decodePayload = Schema.decodeUnknownResult(Payload)

/** JSON Schema of the header's value, as the extension requires it in a challenge. */
const PAYLOAD_SCHEMA = {
  $schema: "https://json-schema.org/draft/2020-12/schema",
  type: "object",
  properties: {
    domain: { type: "string" },
    address: { type: "string" },
    statement: { type: "string" },
    uri: { type: "string", format: "uri" },
    version: { type: "string" },
    chainId: { type: "string" },
    type: { type: "string" },
    nonce: { type: "string" },
    issuedAt: { type: "string", format: "date-time" },
    expirationTime: { type: "string", format: "date-time" },
    signature: { type: "string" }
  },
  required: ["domain", "address", "uri", "version", "chainId", "type", "nonce", "issuedAt", "signature"]
}

const encodeChallenge =
  (networks: ReadonlyArray<string>) =>
  ({ statement, url }: SignInResource, { domain, expiresAt, issuedAt, nonce, uri }: SignInTerms): string =>
    encodePaymentRequiredHeader({
      x402Version: 2,
      error: "Sign in with your wallet. No payment is needed.",
      resource: { url, description: statement, mimeType: "application/json" },
      accepts: [],
      extensions: {
        [EXTENSION]: {
          info: {
            domain,
            uri,
            statement,
            version: MESSAGE_VERSION,
            nonce,
            issuedAt: Timestamp.toIso(issuedAt),
            expirationTime: Timestamp.toIso(expiresAt)
          },
          supportedChains: networks.map((chainId) => ({ chainId, type: "eip191" })),
          schema: PAYLOAD_SCHEMA
        }
      }
    })

const utf8 = new TextDecoder("utf-8", { fatal: true })

const parseHeader = (header: string): Result.Result<unknown, InvalidRequest> => {
  if (header.length > HEADER_LENGTH_MAX) {
    return Result.fail(invalid(HEADER, `must have at most ${HEADER_LENGTH_MAX} characters`))
  }
  const bytes = Buffer.from(header, "base64")
  if (bytes.toString("base64") !== header) return Result.fail(invalid(HEADER, "must be base64 (RFC 4648, section 4)"))
  const flaw = scanJson(bytes, JSON_BUDGET)
  if (flaw !== undefined) return Result.fail(invalid(within(flaw.path), flaw.message))
  return Result.try({
    try: (): unknown => JSON.parse(utf8.decode(bytes)),
    catch: () => invalid(HEADER, "must be base64 of JSON in UTF-8")
  })
}

const within = (path: string): string => (path === "" ? HEADER : `${HEADER}.${path}`)

/** The values of `signatureScheme`, which only informs. */
const SCHEMES: ReadonlySet<string> = new Set(["eip191", "eip1271", "eip6492"])

/** A network whose smart accounts can sign in. */
interface SmartNetwork {
  readonly chain: EvmChain.EvmChain
  readonly offered: OfferedNetwork
}
type SmartNetworks = ReadonlyMap<string, SmartNetwork>

const decode =
  (networks: ReadonlyArray<string>, smart: SmartNetworks) =>
  (header: string): Effect.Effect<SignInMessage, InvalidRequest> =>
    Effect.gen(function* () {
      const json = yield* Effect.fromResult(parseHeader(header))
      const decoded = decodePayload(json)
      if (Result.isFailure(decoded)) {
        const [first] = issuesOf(decoded.failure.issue)
        return yield* invalid(within(first?.path ?? ""), first?.message ?? "is not valid")
      }
      const { address, chainId, signature, signatureScheme = "eip191", type } = decoded.success
      const { domain, expirationTime, issuedAt, nonce, statement = "", uri } = decoded.success
      if (!networks.includes(chainId)) {
        return yield* invalid(within("chainId"), `must be one of ${networks.join(", ")}`)
      }
      if (type !== "eip191") return yield* invalid(within("type"), "must be eip191")
      if (!SCHEMES.has(signatureScheme)) {
        return yield* invalid(within("signatureScheme"), `must be one of ${[...SCHEMES].join(", ")}`)
      }
      const isKeys = signatureScheme === "eip191" && isHex(signature) && size(signature) === ECDSA_BYTES
      if (!isHex(signature) || (!isKeys && !smart.has(chainId))) {
        return yield* invalid(
          within("signature"),
          "must be an eip191 signature of 65 bytes by an externally owned account. " +
            `Smart accounts (ERC-1271, ERC-6492) can't sign in on ${chainId}`
        )
      }
      return {
        terms: { domain, uri, statement, nonce, issuedAt: momentOf(issuedAt), expiresAt: momentOf(expirationTime) },
        address,
        chainId,
        signature
      }
    })

/**
 * Returns the text that the wallet signs (EIP-4361). viem's `createSiweMessage` refuses hosts of one label and IPv6
 * hosts, where a service may run too.
 */
export const messageText = ({ address, chainId, terms }: SignInMessage): string =>
  [
    `${terms.domain} wants you to sign in with your Ethereum account:`,
    getAddress(address),
    "",
    terms.statement,
    "",
    `URI: ${terms.uri}`,
    `Version: ${MESSAGE_VERSION}`,
    `Chain ID: ${chainId.split(":")[1]}`,
    `Nonce: ${terms.nonce}`,
    `Issued At: ${Timestamp.toIso(terms.issuedAt)}`,
    `Expiration Time: ${Timestamp.toIso(terms.expiresAt)}`
  ].join("\n")

const authenticate =
  (smart: SmartNetworks) =>
  (message: SignInMessage): Effect.Effect<WalletAddress, SignInRefused | ProviderError> =>
    Effect.gen(function* () {
      const wallet = walletAddress(message.address)
      const signature = hexOf(message.signature)
      const text = messageText(message)
      const signer = yield* Effect.option(Effect.tryPromise(() => recoverMessageAddress({ message: text, signature })))
      if (Option.exists(signer, (address) => walletAddress(address) === wallet)) return wallet
      const network = smart.get(message.chainId)
      if (network !== undefined) {
        const flaw = yield* findFlaw(network, { account: hexOf(wallet), digest: hashMessage(text), signature })
        return flaw === undefined ? wallet : yield* new SignInRefused({ message: flaw })
      }
      return yield* new SignInRefused({
        message: Option.isNone(signer)
          ? "The signature of the sign-in message is not valid"
          : `The sign-in message is signed by another wallet than ${wallet}`
      })
    })

/** Sign-in for the wallets of networks (CAIP-2 ids), and for the smart accounts of those that accept their payments. */
export const layer = (
  networks: ReadonlyArray<string>,
  configured: ReadonlyArray<PaymentNetwork> = []
): Layer.Layer<SignInProtocol, ProviderError> =>
  Layer.effect(
    SignInProtocol,
    Effect.gen(function* () {
      const chains = [...new Set(networks)]
      const offers = yield* Effect.forEach(
        configured.filter(({ smartAccounts }) => smartAccounts === true),
        offer
      )
      const smart = new Map(offers.map((offered) => [offered.network, { offered, chain: EvmChain.make(offered) }]))
      return {
        encodeChallenge: encodeChallenge(chains),
        decode: decode(chains, smart),
        authenticate: authenticate(smart)
      }
    })
  )
