import { AccessToken, Bytes, Keyring, type MacPurpose } from "@agentos/core"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Option, Redacted, Schema } from "effect"
import { Hex } from "effect/encoding"
import { createPublicKey, verify } from "node:crypto"
import { type KeyringConfig, KeyringNode, type KeySecret } from "../../src/keyring/index.ts"
import { firstSecret, ringOf, secondSecret } from "./SampleKeys.ts"

/** Of the test run: 1, unless TEST_SEED is another whole number or `random`. */
const SEED = process.env["TEST_SEED"] ?? "1"

const keyringOf = (config: KeyringConfig) => Effect.provide(Keyring, KeyringNode.layer(config))
const hello = Bytes.fromText("hello")
const tenantId = "01890a5d-ac96-774b-bcce-b302099a8057"

/** Computed by another implementation of HKDF-SHA256 and HMAC-SHA256, from `firstSecret` and the message `hello`. */
const vectors: Readonly<Record<MacPurpose, string>> = {
  "access-token": "d27f3fdde19853d1c01137b31b8d92d6fafd339396f535469eda78c9d093ec17",
  challenge: "e253d831cf6599421afdaaa47873706c881bce508b845372d21e855b3b288a4b",
  "challenge-terms": "ee6b53b349760f94e56aedf995a77fab297c98c168dfef73e51bbf3b86a52c1b",
  cursor: "c0e15f5ef7f1b6b9b63e766cea75d24584e45f5a1fe019adca4d49e60f56185c",
  "callback-secret": "d9f558a73fed98607eb3995a14d3899113382ad62f34bbfa487919768953ac79",
  "refund-nonce": "4137a979f2b46933d537977e2a3e1a73b99f031943c4c5144dd32e95dae3a1d7",
  "relay-token": "7881a767bbe4c2428bf571132337a65bdcaada09b868867819622e712c9ca7e6",
  "return-path": "194f50ec06695f077e9d1ded7ce618dc4a067713af28f78ad7a19dd3944aaa12",
  "sign-in": "1c16c408ef625bb94e54d7d55911ac7e3e2308519da155c117125fbaf7f2917d",
  "webhook-secret": "ba0d69c0faec7a35081488eae73c54c20127da78abf04477b7b4f33b68860999"
}
const Purpose = Schema.Literals([
  "access-token",
  "challenge",
  "challenge-terms",
  "cursor",
  "callback-secret",
  "refund-nonce",
  "relay-token",
  "return-path",
  "sign-in",
  "webhook-secret"
])
const Message = Schema.String.check(Schema.isMaxLength(64))

describe("KeyringNode", () => {
  it.effect.each(Purpose.literals)("makes the known MAC for %s", (purpose) =>
    Effect.gen(function* () {
      const keyring = yield* keyringOf(ringOf(1, firstSecret))
      const mac = keyring.mac(1, purpose, hello)
      assert.strictEqual(mac && Hex.encode(mac), vectors[purpose])
    })
  )

  it.effect("makes the same MAC for a text as for its bytes in UTF-8", () =>
    Effect.gen(function* () {
      const keyring = yield* keyringOf(ringOf(1, firstSecret))
      for (const text of ["", "hello", "Zürich \u{1f4ee}", "\ud83d"]) {
        assert.deepStrictEqual(keyring.mac(1, "challenge", text), keyring.mac(1, "challenge", Bytes.fromText(text)))
      }
    })
  )

  it.effect("returns no MAC under a key that is not in the ring", () =>
    Effect.gen(function* () {
      const keyring = yield* keyringOf(ringOf(2, firstSecret, secondSecret))
      assert.strictEqual(keyring.activeKeyId, 2)
      assert.strictEqual(keyring.mac(3, "cursor", hello), undefined)
      assert.strictEqual(keyring.mac(0, "cursor", hello), undefined)
    })
  )

  it.effect.prop(
    "makes different MACs for different messages, purposes and keys",
    {
      key: Schema.Literals([1, 2]),
      other: Schema.Literals([1, 2]),
      purpose: Purpose,
      second: Purpose,
      a: Message,
      b: Message
    },
    ({ a, b, key, other, purpose, second }) =>
      Effect.gen(function* () {
        const keyring = yield* keyringOf(ringOf(1, firstSecret, secondSecret))
        const left = keyring.mac(key, purpose, Bytes.fromText(a))
        const right = keyring.mac(other, second, Bytes.fromText(b))
        const same =
          key === other && purpose === second && Hex.encode(Bytes.fromText(a)) === Hex.encode(Bytes.fromText(b))
        assert.strictEqual(left && Hex.encode(left) === Hex.encode(right ?? new Uint8Array()), same)
      }),
    { arbitrary: { seed: SEED } }
  )

  it.effect("opens tokens of an older key until that key is removed", () =>
    Effect.gen(function* () {
      const before = yield* keyringOf(ringOf(1, firstSecret))
      const token = AccessToken.derive(before, { keyId: 1, tenantId, version: 7 })
      if (token === undefined) return assert.fail("no token")
      const open = (config: KeyringConfig) =>
        Effect.provide(AccessToken.open(Redacted.value(token)), KeyringNode.layer(config))
      assert.deepStrictEqual(
        yield* open(ringOf(2, firstSecret, secondSecret)),
        Option.some({ keyId: 1, tenantId, version: 7 })
      )
      const rotated: KeyringConfig = { activeKeyId: 2, keys: [{ id: 2, secret: Redacted.make(secondSecret) }] }
      assert.deepStrictEqual(yield* open(rotated), Option.none())
      assert.deepStrictEqual(yield* open(ringOf(1, secondSecret)), Option.none())
    })
  )

  it.effect("signs by Ed25519 with a key of its own for each secret", () =>
    Effect.gen(function* () {
      const { sign, verificationKeys } = yield* keyringOf(ringOf(2, firstSecret, secondSecret))
      const isValid = (publicKey: Uint8Array, message: Uint8Array, signature: Uint8Array) =>
        verify(
          null,
          message,
          createPublicKey({
            key: { kty: "OKP", crv: "Ed25519", x: Buffer.from(publicKey).toString("base64url") },
            format: "jwk"
          }),
          signature
        )
      const { bytes, keyId } = sign(hello)
      assert.strictEqual(keyId, 2)
      assert.deepStrictEqual(
        verificationKeys.map((key) => [key.keyId, isValid(key.publicKey, hello, bytes)]),
        [
          [1, false],
          [2, true]
        ]
      )
      assert.isFalse(verificationKeys.some(({ publicKey }) => isValid(publicKey, Bytes.fromText("hullo"), bytes)))
      assert.deepStrictEqual(sign(hello).bytes, bytes)
    })
  )

  it.effect("keeps the verification key of an older secret after a rotation", () =>
    Effect.gen(function* () {
      const before = yield* keyringOf(ringOf(1, firstSecret))
      const after = yield* keyringOf(ringOf(2, firstSecret, secondSecret))
      assert.deepStrictEqual(after.verificationKeys[0], before.verificationKeys[0])
    })
  )

  it.effect("returns the requested number of random bytes, different each time", () =>
    Effect.gen(function* () {
      const keyring = yield* keyringOf(ringOf(1, firstSecret))
      const [a, b] = yield* Effect.all([keyring.randomBytes(16), keyring.randomBytes(16)])
      assert.strictEqual(a.length, 16)
      assert.notDeepEqual(a, b)
      const lengths = Array.from({ length: 2_000 }, (_, index) => [16, 17, 33, 4_096, 5_000][index % 5]!)
      const drawn = yield* Effect.forEach(lengths, (length) => keyring.randomBytes(length))
      assert.deepStrictEqual(
        drawn.map(({ length }) => length),
        lengths
      )
      const starts = drawn.map((bytes) => Buffer.from(bytes.subarray(0, 16)).toString("hex"))
      assert.lengthOf(new Set(starts), drawn.length)
    })
  )

  const key = (id: number, secret = `${firstSecret} ${id}`): KeySecret => ({ id, secret: Redacted.make(secret) })
  const unusable: ReadonlyArray<readonly [why: string, config: KeyringConfig]> = [
    ["two keys have the id 1", { activeKeyId: 1, keys: [key(1), key(1, secondSecret)] }],
    ["keys 1 and 2 have the same secret", ringOf(1, firstSecret, firstSecret)],
    ["the secret of key 2 must have at least 32 bytes", { activeKeyId: 1, keys: [key(1), key(2, "x".repeat(31))] }],
    ["key id 0 must be a whole number from 1 to 255", { activeKeyId: 0, keys: [key(0)] }],
    ["key id 256 must be a whole number from 1 to 255", { activeKeyId: 256, keys: [key(256)] }],
    ["key id 1.5 must be a whole number from 1 to 255", { activeKeyId: 1.5, keys: [key(1.5)] }],
    ["the active key 2 is not in the list", ringOf(2, firstSecret)],
    ["the active key 1 is not in the list", { activeKeyId: 1, keys: [] }]
  ]
  it.effect.each(unusable)("rejects a ring where %s", ([why, config]) =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(keyringOf(config))
      assert.strictEqual(error._tag, "KeyringMisconfigured")
      assert.include(error.message, why)
      for (const { secret } of config.keys) assert.notInclude(error.message, Redacted.value(secret))
    })
  )

  it.effect("accepts ids up to 255 and secrets of 32 bytes in any script", () =>
    Effect.gen(function* () {
      const keyring = yield* keyringOf({ activeKeyId: 255, keys: [key(1, "₮".repeat(11)), key(255, "x".repeat(32))] })
      assert.strictEqual(keyring.mac(255, "cursor", hello)?.length, 32)
    })
  )
})
