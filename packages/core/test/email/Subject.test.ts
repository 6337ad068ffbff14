import { baseSubject, forwardSubject, isReplySubject, replySubject } from "@agentos/core"
import { assert, describe, it } from "@effect/vitest"

describe("the subject of a reply", () => {
  it.each([
    ["Offer", "Re: Offer"],
    ["Re: Offer", "Re: Offer"],
    ["RE:Offer", "RE:Offer"],
    ["Re[2]: Offer", "Re[2]: Offer"],
    ["Re(3): Offer", "Re(3): Offer"],
    ["Re : Offer", "Re : Offer"],
    ["AW: Angebot", "AW: Angebot"],
    ["SV: Tilbud", "SV: Tilbud"],
    ["VS: Tarjous", "VS: Tarjous"],
    ["R: Offerta", "R: Offerta"],
    ["回复：报价", "回复：报价"],
    ["답장: 견적", "답장: 견적"],
    ["Ответ: Счёт", "Ответ: Счёт"],
    ["Fwd: Offer", "Re: Fwd: Offer"],
    ["[team] Offer", "Re: [team] Offer"],
    ["Regarding: Offer", "Re: Regarding: Offer"],
    ["Reply", "Re: Reply"],
    ["", "Re:"],
    ["x".repeat(998), `Re: ${"x".repeat(994)}`]
  ])("of %j is %j", (subject, expected) => {
    assert.strictEqual(replySubject(subject), expected)
    assert.strictEqual(replySubject(expected), expected)
  })

  it("is compared without its prefixes, in lower case and with single spaces", () => {
    for (const subject of ["Re: Big  Offer", "AW: Re[2]: big offer", "SV:回复：Re : Big Offer "])
      assert.strictEqual(baseSubject(subject), "big offer")
    assert.strictEqual(baseSubject("Fwd: Offer"), "fwd: offer")
    assert.isFalse(isReplySubject("Offer"))
  })
})

describe("the subject of a forwarded message", () => {
  it.each([
    ["Offer", "Fwd: Offer"],
    ["Fwd: Offer", "Fwd: Offer"],
    ["FW: Offer", "FW: Offer"],
    ["WG: Angebot", "WG: Angebot"],
    ["Re: Offer", "Fwd: Re: Offer"],
    ["", "Fwd:"]
  ])("of %j is %j", (subject, expected) => assert.strictEqual(forwardSubject(subject), expected))
})
