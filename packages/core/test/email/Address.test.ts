import { baseLocalPart, CreateMailboxInput, isEmailAddress, LocalPart, SendMessageInput } from "@agentos/core"
import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"

const isLocalPart = Schema.is(LocalPart.LocalPart)

describe("EmailAddress", () => {
  it("takes dot-atoms at host names", () => {
    for (const address of ["a@b", "a.b+c@example.com", "o'hara@sub.example.co", `${"a".repeat(64)}@example.com`]) {
      assert.isTrue(isEmailAddress(address), address)
    }
  })

  it("takes nothing else", () => {
    const wrong = [
      "",
      "a",
      "@b",
      "a@",
      "a@b@c",
      "a b@c",
      ".a@b",
      "a.@b",
      "a..b@c",
      "a@-b",
      "a@b-",
      "a@b..c",
      '"a b"@c',
      "a@[127.0.0.1]",
      "a@b\r\nBcc: c@d",
      "a\u0000@b",
      "ä@b",
      "A <a@b>",
      "a@b,c@d",
      `${"a".repeat(65)}@example.com`,
      `a@${"b.".repeat(130)}c`
    ]
    for (const address of wrong) assert.isFalse(isEmailAddress(address), JSON.stringify(address))
  })

  it("finds the mailbox behind a tag", () => {
    assert.deepStrictEqual(["Ada", "ada+x", "ada+x+y", "+x"].map(baseLocalPart), ["ada", "ada", "ada", "+x"])
  })

  it("finds none behind another letter that is one of ours in lower case", () => {
    assert.strictEqual(baseLocalPart("\u212Aim"), "\u212Aim")
  })
})

describe("LocalPart", () => {
  it("is a dot-atom of 64 characters at most, without a tag", () => {
    for (const text of ["a", "Ada.Lovelace", "x".repeat(64), "a_b-c"]) assert.isTrue(isLocalPart(text), text)
    for (const text of ["", "a b", "a@b", ".a", "a.", "a..b", "a+b", "x".repeat(65), "é", "a\n"]) {
      assert.isFalse(isLocalPart(text), JSON.stringify(text))
    }
  })

  it("keeps the operator's names, in any case", () => {
    for (const text of ["postmaster", "ABUSE", "Admin", "root", "noreply"]) assert.isTrue(LocalPart.isReserved(text))
    assert.isFalse(LocalPart.isReserved("ada"))
  })
})

describe("EmailInput", () => {
  const send = { mailboxId: "01900000-0000-7000-8000-000000000001", to: ["a@b"], subject: "s", text: "t" }
  const isSend = Schema.is(SendMessageInput)

  it("lets no line break or control character into what becomes a header", () => {
    for (const character of ["\r", "\n", "\u0000", "\u0007", "\u007f", "\u0085", "\u2028"]) {
      assert.isFalse(isSend({ ...send, subject: `a${character}b` }), JSON.stringify(character))
      assert.isFalse(Schema.is(CreateMailboxInput)({ localPart: "a", displayName: `a${character}b` }))
    }
    assert.isTrue(isSend({ ...send, text: "a\r\nb\tc" }))
    assert.isFalse(isSend({ ...send, text: "a\u0000b" }))
    assert.isFalse(isSend({ ...send, text: "\ud800" }))
  })

  it("counts the body in bytes and the subject in characters", () => {
    assert.isTrue(isSend({ ...send, subject: "é".repeat(998), text: "é".repeat(512 * 1024) }))
    assert.isFalse(isSend({ ...send, subject: "é".repeat(999) }))
    assert.isFalse(isSend({ ...send, text: "é".repeat(512 * 1024 + 1) }))
  })

  it("wants between one and fifty recipients in each list", () => {
    assert.isFalse(isSend({ ...send, to: [] }))
    assert.isTrue(isSend({ ...send, to: Array.from({ length: 50 }, (_, i) => `a${i}@b`) }))
    assert.isFalse(isSend({ ...send, cc: Array.from({ length: 51 }, (_, i) => `a${i}@b`) }))
  })
})
