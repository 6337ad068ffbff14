import { createHash } from "node:crypto"
import { assert, describe, it } from "vitest"
import { boundNonce, isBoundElsewhere, NONCE_TAG, originNonce } from "../../src/header/BoundNonce.ts"

const URL = "https://agentos.example/api/v1/email/mailboxes"
const binding = "ab".repeat(32)
const hashOf = (origin: string): string =>
  `0x6167656e746f7332${createHash("sha256").update(`${origin}\n${binding}`).digest("hex").slice(0, 48)}`
/** `0x` and the tag, then the first 48 digits of: printf %s abab…ab | sha256sum. */
const expected = "0x6167656e746f7331271a413bd339c5709fdceaec41f14f11e9fbfb5042d72d33"

describe("A bound nonce", () => {
  it("consists of the tag and 24 bytes of SHA-256 over the text of the binding", () => {
    assert.strictEqual(boundNonce(binding), expected)
    assert.strictEqual(Buffer.from(NONCE_TAG.slice(2), "hex").toString(), "agentos1")
  })

  it("belongs to its own challenge alone", () => {
    assert.isFalse(isBoundElsewhere(expected, binding, URL))
    for (const other of ["cd".repeat(32), binding.toUpperCase(), "", undefined, 7]) {
      assert.isTrue(isBoundElsewhere(expected, other, URL), String(other))
    }
    assert.isTrue(isBoundElsewhere(`${expected.slice(0, -1)}0`, binding, URL))
  })

  it("is recognized by its tag: any other nonce is bound to nothing", () => {
    assert.isFalse(isBoundElsewhere(`0x${"6167656e746f7333".padEnd(64, "0")}`, binding, URL))
    assert.isFalse(isBoundElsewhere(`0x${"00".repeat(32)}`, undefined, URL))
  })
})

describe("A nonce that is bound to a server", () => {
  it("consists of the tag and 24 bytes of SHA-256 over the origin and the binding", () => {
    // printf "https://agentos.example\nabab…ab" | sha256sum
    assert.strictEqual(
      originNonce("https://agentos.example", binding),
      "0x6167656e746f733219859c40d2dfcc0c0017073ea638a941d939123927ebf506"
    )
  })

  it("belongs to its own server and challenge alone", () => {
    const nonce = originNonce("https://agentos.example", binding)
    assert.isFalse(isBoundElsewhere(nonce, binding, URL))
    for (const other of ["https://relay.example", "http://agentos.example", "https://agentos.example:8443"]) {
      assert.isTrue(isBoundElsewhere(originNonce(other, binding), binding, URL), other)
    }
    for (const other of ["cd".repeat(32), "", undefined]) assert.isTrue(isBoundElsewhere(nonce, other, URL))
  })

  it("belongs to a server on loopback under every name of this machine, and to its port alone", () => {
    const local = hashOf("http://localhost:8402")
    for (const host of ["127.0.0.1", "127.0.0.2", "localhost", "agentos.localhost", "[::1]"]) {
      const nonce = originNonce(`http://${host}:8402`, binding)
      assert.strictEqual(nonce, local, host)
      assert.isFalse(isBoundElsewhere(nonce, binding, "http://127.0.0.1:8402/x"), host)
      assert.isTrue(isBoundElsewhere(nonce, binding, "http://127.0.0.1:8403/x"), host)
    }
    assert.notStrictEqual(originNonce("http://localhost.example:8402", binding), local)
  })
})
