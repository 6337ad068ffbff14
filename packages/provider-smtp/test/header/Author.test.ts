import { describe, expect, it } from "vitest"
import { authorOf, displayNameIn } from "../../src/header/Author.ts"
import { readHeaderBlock } from "../../src/header/HeaderBlock.ts"

/** Returns the author of a message with these header lines; text is Latin-1 unless `encoding` says otherwise. */
const authorIn = (header: string, encoding: "latin1" | "utf8" = "latin1") => {
  const block = readHeaderBlock(Buffer.from(`${header}\r\n\r\nFrom: body@else.test\r\n`, encoding), 64 * 1024)
  return block._tag === "Fields" ? authorOf(block.fields)?.address : block._tag
}

describe("the author of a message", () => {
  it.each([
    ["From: ada@sender.test", "ada@sender.test"],
    ["from:ada@Sender.TEST", "ada@sender.test"],
    ["From : <Ada.L+x@sender.test>", "Ada.L+x@sender.test"],
    ["From: Ada Lovelace <ada@sender.test>", "ada@sender.test"],
    ["From: Ada B. Lovelace <ada@sender.test> (work)", "ada@sender.test"],
    ['From: "Lovelace, Ada (A): @home" <ada@sender.test>', "ada@sender.test"],
    ["From: =?utf-8?q?Lovelace=2C_Ada?= <ada@sender.test>", "ada@sender.test"],
    ["From: (a (nested \\) one)) ada@sender.test", "ada@sender.test"],
    ["From:\r\n Ada\r\n\t<ada@sender.test>", "ada@sender.test"],
    ["From: \r\n \r\n ada@sender.test", "ada@sender.test"],
    ['From: "ada"@sender.test', '"ada"@sender.test'],
    ["From: <a!#$%&'*+-/=^?_`{|}~@sender.test>", "a!#$%&'*+-/=^?_`{|}~@sender.test"],
    ["From: Ada <ada..b.@sender.test>", "ada..b.@sender.test"],
    ["From: .ada@sender.test", ".ada@sender.test"],
    ["From: J\xfcrgen <j@sender.test>", "j@sender.test"],
    ["Subject: s\nFrom: ada@sender.test\nTo: b@c.test", "ada@sender.test"]
  ])("in %j is %s", (header, address) => {
    expect(authorIn(header)).toBe(address)
  })

  it.each([
    "bob@sender.test <bob@sender.test>",
    '"bob@sender.test" <bob@sender.test>',
    "'bob@sender.test' <bob@sender.test>",
    "BOB@Sender.test, <bob@sender.test>",
    "Alert: Bob <bob@sender.test>",
    "Doe, Bob <bob@sender.test>",
    "Doe; Bob <bob@sender.test>",
    "EXAMPLE\\bob <bob@sender.test>",
    "Bob [Sales] <bob@sender.test>",
    "Bob (Sales) <bob@sender.test>",
    "Bob ) <bob@sender.test>",
    'Bob "the builder <bob@sender.test>',
    "Bob (Sales <bob@sender.test>",
    "Bob <bob@sender.test>,",
    "Bob <bob@sender.test>;",
    "bob@sender.test,",
    "<bob@sender.test>",
    "<<bob@sender.test>>",
    "Bob <<bob@sender.test>>",
    "<mailto:bob@sender.test>",
    "Bob <MAILTO:bob@sender.test>",
    "mailto:bob@sender.test",
    "Bob [bob@sender.test]",
    "Bob [mailto:bob@sender.test]",
    "Bob <bob@sender.test.>",
    "bob@sender.test.",
    "bob@sender.test, bob@SENDER.test",
    "Bob <bob@sender.test>, Bob B <bob@sender.test>",
    '"" <bob@sender.test>',
    "Bob < bob@sender.test >"
  ])("is certain in %j", (value) => {
    expect(authorIn(`From: ${value}`)).toBe("bob@sender.test")
  })

  it("is uncertain with an address in the name that a reader could map to another", () => {
    expect(authorIn("From: Ada; ceo\uff20bank.test <ada@sender.test>", "utf8")).toBeUndefined()
  })

  it("is found below the line of a mailbox file", () => {
    for (const line of ["From ceo@bank.test Mon Jan  1 12:00:00 2026", ">From ceo@bank.test", "From - Mon Jan  1"])
      expect(authorIn(`${line}\r\nFrom: ada@sender.test`)).toBe("ada@sender.test")
  })

  it.each([
    ["Bob J. Doe <b@c.test>", "Bob J. Doe"],
    ['"Doe, \\"Bob\\"" <b@c.test>', 'Doe, "Bob"'],
    ["Alert: Bob <b@c.test>", "Alert: Bob"],
    ["EXAMPLE\\bob <b@c.test>", "EXAMPLE\\bob"],
    ["Bob (Sales) <b@c.test>", "Bob"],
    ["b@c.test (Bob Doe)", "Bob Doe"],
    ['Bob "the builder <b@c.test>', "Bob the builder"],
    ["b@c.test", ""],
    ["Bob <<b@c.test>>", "Bob"],
    ["Bob [b@c.test]", "Bob"],
    ["Bob <mailto:b@c.test>", "Bob"],
    ["Bob <b@c.test>, Bobby <b@c.test>", "Bob"],
    ['"" <b@c.test>', ""]
  ])("%j has the name %j", (value, name) => {
    expect(displayNameIn(value)).toBe(name)
  })

  it("may have a local part of any length that a path allows", () => {
    const localPart = "bounces+srs0=".padEnd(242, "x")
    expect(authorIn(`From: ${localPart}@example.com`)).toBe(`${localPart}@example.com`)
    expect(authorIn(`From: x${localPart}@example.com`)).toBeUndefined()
  })

  it("may have an address in Unicode, whose domain is returned in ASCII", () => {
    expect(authorIn("From: 👩‍💻 Jürgen <jürgen@bücher.test>", "utf8")).toBe("jürgen@xn--bcher-kva.test")
    for (const domain of ["MÜNCHEN.test", "xn--mnchen-3ya.test", "XN--MNCHEN-3YA.Test"]) {
      expect(authorIn(`From: a@${domain}`, "utf8")).toBe("a@xn--mnchen-3ya.test")
    }
    expect(authorIn("From: a@straße.test", "utf8")).toBe("a@xn--strae-oqa.test")
    expect(authorIn("From: a@例え.テスト", "utf8")).toBe("a@xn--r8jz45g.xn--zckzah")
  })

  it.each([
    ["full-width letters", "\uff42ank.test"],
    ["circled letters", "\u24d1ank.test"],
    ["mathematical letters", "\u{1d41b}ank.test"],
    ["a soft hyphen", "ba\u00adnk.test"],
    ["a zero-width space", "ba\u200bnk.test"],
    ["a combining grapheme joiner", "ba\u034fnk.test"],
    ["a variation selector", "ba\ufe0fnk.test"],
    ["a Kelvin sign", "ban\u212a.test"],
    ["a long s", "bank.te\u017ft"],
    ["a superscript", "bank\u00b9.test"],
    ["an ideographic full stop", "bank\u3002test"],
    ["a letter and its mark apart", "mu\u0308nchen.test"],
    ["a small Cherokee letter", "\uab70.test"]
  ])("is undefined for a domain with %s, which readers map differently", (_, domain) => {
    expect(authorIn(`From: ceo@${domain}`, "utf8")).toBeUndefined()
  })

  it.each([
    "Subject: s",
    "From:",
    "From: ",
    "From: nobody",
    "From: <>",
    "From: @sender.test",
    "From: ada@",
    "From: ada@sender.test\r\nFrom: ceo@bank.test",
    "From: ada@sender.test\r\nFROM: ada@sender.test",
    "From: ada@sender.test\r\nfrom : ceo@bank.test",
    "From: ada@sender.test, ceo@bank.test",
    "From: <ada@sender.test>, <ceo@bank.test>",
    "From: ada@sender.test ceo@bank.test",
    "From: <ada@sender.test> <ceo@bank.test>",
    "From: ada@sender.test <ceo@bank.test>",
    "From: ceo@bank.test@sender.test",
    "From: <ada@sender.test> ceo@bank.test",
    "From: <<ada@sender.test>, <ceo@bank.test>>",
    "From: ceo@bank.test <<ada@sender.test>>",
    "From: <mailto:ada@sender.test?subject=ceo@bank.test>",
    "From: Ada <mailto:ceo@bank.test> <ada@sender.test>",
    "From: ceo@bank.test [ada@sender.test]",
    "From: [ceo@bank.test] [ada@sender.test]",
    "From: ceo@[ada@sender.test]",
    "From: team: ada@sender.test;",
    "From: team: ada@sender.test, ceo@bank.test;",
    "From: undisclosed-recipients:;",
    "From: <@bank.test:ada@sender.test>",
    "From: ada@sender.test>",
    "From: <ada@sender.test",
    "From: ada@(bank.test)sender.test",
    "From: ada @sender.test",
    "From: ada@ sender.test",
    "From: ada@sender.test(open",
    'From: "open ada@sender.test',
    "From: team: Ada <ada@sender.test>;",
    "From: Ada, ceo@bank.test <ada@sender.test>",
    "From: (ceo@bank.test: <ada@sender.test>",
    "From: Alert: <ceo@bank.test> <ada@sender.test>",
    "From: Alert: Ada <ada@sender.test> ceo@bank.test",
    "From: Alert: Ada <ada@sender.test, ceo@bank.test>",
    "From: Alert: ada@sender.test",
    "From: Doe, ada@sender.test",
    "From: ada@sender.test, ada@sender.test, ceo@bank.test",
    `From: ${"ada@sender.test,".repeat(20)}ada@sender.test`,
    'From: "a b"@sender.test',
    'From: "ceo@bank.test>"@sender.test',
    'From: "ceo\\"@bank.test"@sender.test',
    "From: =?utf-8?q?ceo=40bank=2Etest=3E?=@sender.test",
    "From: ada@=?utf-8?q?sender?=.test",
    "From: ada@[192.0.2.1]",
    "From: ..@sender.test",
    'From: ada."b"@sender.test',
    "From: ada@sender..test",
    "From: ada@sender.test..",
    "From: ada@.",
    "From: ada\x01@sender.test",
    "From: ada\xff@sender.test",
    `From: ${"a".repeat(243)}@sender.test`
  ])("can't be told from %j", (header) => {
    expect(authorIn(header)).toBeUndefined()
  })

  it("is undefined for an address with invisible or reordering characters", () => {
    for (const address of ["a\u202eb@sender.test", "a\u200bb@sender.test", "a\u00a0b@sender.test"]) {
      expect(authorIn(`From: ${address}`, "utf8")).toBeUndefined()
    }
  })

  it.each(["(", "()", "\\", '"', "<", "a ", ".", "@", "a@b,", "=?utf-8?q?a?= ", "a".repeat(1_000)])(
    "is undefined for a long field of repeated %j",
    (part) => {
      expect(authorIn(`From: ${part.repeat(60_000 / part.length)}`)).toBeUndefined()
    }
  )
})

describe("an ambiguous header", () => {
  it.each([
    ["a carriage return alone", "Subject: s\rFrom: ceo@bank.test\r\nFrom: ada@sender.test"],
    ["two carriage returns", "Subject: s\r\r\nFrom: ada@sender.test"],
    ["U+0000", "Subject: s\0\r\nFrom: ada@sender.test"],
    ["U+0000 in From", "From: ceo@bank.test\0@sender.test"],
    ["a line without a colon", "Subject: s\r\nnonsense\r\nFrom: ada@sender.test"],
    ["a first line that continues nothing", " From: ceo@bank.test\r\nFrom: ada@sender.test"],
    ["a name that is folded", "From\r\n : ceo@bank.test\r\nFrom: ada@sender.test"],
    ["a name with a no-break space", "\xa0From: ceo@bank.test\r\nFrom: ada@sender.test"],
    ["a byte order mark", "\xef\xbb\xbfFrom: ceo@bank.test\r\nFrom: ada@sender.test"],
    ["the line of a mailbox file within it", "Subject: s\r\nFrom ceo@bank.test Mon Jan  1\r\nFrom: ada@sender.test"],
    ["two lines of a mailbox file", "From a@b.test\r\nFrom ceo@bank.test\r\nFrom: ada@sender.test"]
  ])("is malformed: %s", (_, header) => {
    expect(authorIn(header)).toBe("Malformed")
  })

  it("is too large by its bytes or its lines", () => {
    expect(authorIn(`From: ada@sender.test\r\nX: ${"x".repeat(64 * 1024)}`)).toBe("TooLarge")
    expect(authorIn(`From: ada@sender.test\r\nX: ${"\r\n x".repeat(4_001)}`)).toBe("TooLarge")
    expect(authorIn(`From: ada@sender.test\r\nX: ${"\r\n x".repeat(3_900)}`)).toBe("ada@sender.test")
  })
})
