import {
  baseLocalPart,
  CreateMailboxInput,
  EmailAddress,
  isEmailAddress,
  LocalPart,
  needsSmtpUtf8,
  SendMessageInput,
  toEmailAddress
} from "@agentos/core"
import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"

const isLocalPart = Schema.is(LocalPart.LocalPart)

describe("EmailAddress", () => {
  it("accepts dot-atoms at host names", () => {
    for (const address of ["a@b", "a.b+c@example.com", "o'hara@sub.example.co", `${"a".repeat(242)}@example.com`]) {
      assert.isTrue(isEmailAddress(address), address)
    }
  })

  it("rejects everything else", () => {
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
      "a\u00a0b@c",
      "a\u200bb@c",
      "a\u0085@b",
      "ä..b@c",
      `${"ä".repeat(122)}@example.com`,
      "a@ｂ.example",
      "a@b\u200b.example",
      "ä＠b",
      "A <a@b>",
      "a@b,c@d",
      `${"a".repeat(243)}@example.com`,
      `a@${"b.".repeat(130)}c`
    ]
    for (const address of wrong) assert.isFalse(isEmailAddress(address), JSON.stringify(address))
  })

  it("accepts letters of all scripts, and converts a domain to A-labels", () => {
    const converted: ReadonlyArray<readonly [string, string]> = [
      ["bob@münchen.example", "bob@xn--mnchen-3ya.example"],
      ["jürgen@Müller.example", "jürgen@xn--mller-kva.example"],
      ["用户@例子.example", "用户@xn--fsqu00a.example"],
      ["Bob@Example.com", "Bob@Example.com"],
      ["अजय@xn--mller-kva.example", "अजय@xn--mller-kva.example"]
    ]
    for (const [given, stored] of converted) {
      assert.strictEqual(toEmailAddress(given), stored)
      assert.strictEqual(Schema.decodeSync(EmailAddress)(given), stored)
      assert.isTrue(isEmailAddress(stored))
    }
    assert.deepStrictEqual(["bob@xn--mnchen-3ya.example", "jürgen@b.example"].map(needsSmtpUtf8), [false, true])
  })

  it("finds the mailbox behind a tag", () => {
    assert.deepStrictEqual(["Ada", "ada+x", "ada+x+y", "+x"].map(baseLocalPart), ["ada", "ada", "ada", "+x"])
  })

  it("does not lowercase a letter beyond ASCII to an ASCII letter", () => {
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

  it("reserves the operator's names, in any case", () => {
    for (const text of ["postmaster", "ABUSE", "Admin", "root", "noreply"]) assert.isTrue(LocalPart.isReserved(text))
    assert.isFalse(LocalPart.isReserved("ada"))
  })

  it.each([
    ["the service's own names", ["agentos", "AgentOS", "agent-os", "agent.os", "agentos-support", "support.agentos"]],
    ["the service's name next to another word", ["agentos-bob", "bob.agentos", "agentctl_news", "agent0s", "4gentos"]],
    ["names of RFC 2142", ["abuse", "noc", "security", "usenet", "uucp", "www", "list-request"]],
    ["names that prove control of a domain", ["admin", "ssl-admin", "sslwebmaster", "is", "it", "mis", "hostmaster"]],
    ["names of reports", ["tls-rpt", "tlsrpt", "smtp-tls-reports", "mta-sts", "dmarc-reports", "arf", "feedback-loop"]],
    ["names of automatic mail", ["no_reply", "no.reply", "no-reply", "noreply", "do-not-reply", "mailer_daemon"]],
    ["names of hosts", ["autodiscover", "autoconfig", "wpad", "localhost", "api", "status", "pop3"]],
    ["names that ask for money", ["accounts", "billing", "payments", "refunds", "b.i.l.l.i.n.g", "accounts.payable"]],
    ["names that ask for a code", ["login", "account", "verify", "2fa", "sign_in", "password"]],
    ["names that people trust", ["official", "team", "staff", "moderator", "notifications", "customer.service"]],
    [
      "names written with lookalikes",
      ["adm1n", "n0reply", "no_rep1y", "b|lling", "$upport", "acc0unts", "r00t", "0fficial", "adrnin", "vvebmaster"]
    ],
    ["names with signs around them", ["admin-", "_admin", "~admin", "ad'min", "admin!"]]
  ])("reserves %s", (_what, names) => {
    for (const name of names) assert.isTrue(LocalPart.isReserved(name), name)
  })

  it("does not reserve anything else, however similar", () => {
    const names = [
      "agent",
      "agents",
      "agent-oscar",
      "agent.osborne",
      "mall",
      "ada1",
      "bob2",
      "15",
      "404",
      "2026",
      "1s7x",
      "misha"
    ]
    for (const name of [
      ...names,
      "supportive",
      "internal",
      "savvy",
      "adminton",
      "teams",
      "billings",
      "apis",
      "steam",
      "ada-1s-here",
      "rooty"
    ])
      assert.isFalse(LocalPart.isReserved(name), name)
  })
})

describe("EmailInput", () => {
  const send = { mailboxId: "01900000-0000-7000-8000-000000000001", to: ["a@b"], subject: "s", text: "t" }
  const isSend = Schema.is(SendMessageInput)

  it("rejects line breaks and control characters in text for a header", () => {
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

  it("requires 1 to 50 recipients in to, and at most 50 in cc", () => {
    assert.isFalse(isSend({ ...send, to: [] }))
    assert.isTrue(isSend({ ...send, to: Array.from({ length: 50 }, (_, i) => `a${i}@b`) }))
    assert.isFalse(isSend({ ...send, cc: Array.from({ length: 51 }, (_, i) => `a${i}@b`) }))
  })
})
