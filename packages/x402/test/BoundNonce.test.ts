import { assert, describe, it } from "vitest"
import { boundNonce, isBoundElsewhere, NONCE_TAG } from "../src/BoundNonce.ts"

const binding = "ab".repeat(32)
/** `0x` and the tag, then the first 48 digits of: printf %s abab…ab | sha256sum. */
const expected = "0x6167656e746f7331271a413bd339c5709fdceaec41f14f11e9fbfb5042d72d33"

describe("A bound nonce", () => {
  it("consists of the tag and 24 bytes of SHA-256 over the text of the binding", () => {
    assert.strictEqual(boundNonce(binding), expected)
    assert.strictEqual(Buffer.from(NONCE_TAG.slice(2), "hex").toString(), "agentos1")
  })

  it("belongs to its own challenge alone", () => {
    assert.isFalse(isBoundElsewhere(expected, binding))
    for (const other of ["cd".repeat(32), binding.toUpperCase(), "", undefined, 7]) {
      assert.isTrue(isBoundElsewhere(expected, other), String(other))
    }
    assert.isTrue(isBoundElsewhere(`${expected.slice(0, -1)}0`, binding))
  })

  it("is recognized by its tag: any other nonce is bound to nothing", () => {
    assert.isFalse(isBoundElsewhere(`0x${"6167656e746f7332".padEnd(64, "0")}`, binding))
    assert.isFalse(isBoundElsewhere(`0x${"00".repeat(32)}`, undefined))
  })
})
