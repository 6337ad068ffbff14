import { describe, expect, it } from "vitest"
import { extractReply, mailKindOf } from "../../src/parser/ExtractReply.ts"
import { textOfHtml } from "../../src/parser/HtmlText.ts"
import { LANGUAGES } from "../replies/Languages.ts"
import { LABELED_REPLIES } from "../replies/Replies.ts"
import { score } from "../replies/Score.ts"

/** Replies as mail programs write them, each with the new part "First line.\n\nSecond line." */
const NEW = "First line.\n\nSecond line."
const QUOTE = "> Hello Ada,\n>\n> can you send the invoice?\n>\n> Bob\n"

const SAMPLES: ReadonlyArray<readonly [program: string, text: string]> = [
  ["Gmail, English", `${NEW}\n\nOn Mon, Nov 23, 2026 at 9:41 AM Bob Smith <bob@example.com> wrote:\n\n${QUOTE}`],
  [
    "Gmail, English, with a wrapped header",
    `${NEW}\n\nOn Mon, Nov 23, 2026 at 9:41 AM Bob Smith with a long name\n<bob@example.com> wrote:\n\n${QUOTE}`
  ],
  ["Gmail, German", `${NEW}\n\nAm Mo., 23. Nov. 2026 um 09:41 Uhr schrieb Bob Smith <bob@example.com>:\n\n${QUOTE}`],
  ["Gmail, French", `${NEW}\n\nLe lun. 23 nov. 2026 à 09:41, Bob Smith <bob@example.com> a écrit :\n\n${QUOTE}`],
  ["Apple Mail, English", `${NEW}\n\n> On 23 Nov 2026, at 09:41, Bob Smith <bob@example.com> wrote:\n> \n${QUOTE}`],
  [
    "Apple Mail, English, unquoted header",
    `${NEW}\n\nOn 23 Nov 2026, at 09:41, Bob Smith <bob@example.com> wrote:\n\n${QUOTE}`
  ],
  ["Apple Mail, German", `${NEW}\n\n> Am 23.11.2026 um 09:41 schrieb Bob Smith <bob@example.com>:\n> \n${QUOTE}`],
  ["Apple Mail, French", `${NEW}\n\n> Le 23 nov. 2026 à 09:41, Bob Smith <bob@example.com> a écrit :\n> \n${QUOTE}`],
  [
    "an iPhone",
    `${NEW}\n\nSent from my iPhone\n\n> On 23 Nov 2026, at 09:41, Bob <bob@example.com> wrote:\n> \n${QUOTE}`
  ],
  [
    "Thunderbird, English",
    `${NEW}\n\nOn 11/23/26 09:41, Bob Smith wrote:\n${QUOTE}\n-- \nAda Lovelace\nExample Ltd.\n`
  ],
  ["a program that gives no date", `${NEW}\n\nOn Monday, Acme wrote:\n${QUOTE}`],
  ["Thunderbird, German", `${NEW}\n\nAm 23.11.26 um 09:41 schrieb Bob Smith:\n${QUOTE}\n`],
  ["Thunderbird, French", `${NEW}\n\nLe 23/11/2026 à 09:41, Bob Smith a écrit :\n${QUOTE}\n`],
  [
    "Outlook, English",
    `${NEW}\n\n________________________________\nFrom: Bob Smith <bob@example.com>\nSent: Monday, November 23, 2026 9:41 AM\nTo: Ada <ada@agents.test>\nSubject: Invoice\n\nHello Ada,\n\ncan you send the invoice?\n`
  ],
  [
    "Outlook, English, without a separator",
    `${NEW}\n\nFrom: Bob Smith <bob@example.com>\nSent: Monday, November 23, 2026 9:41 AM\nTo: Ada <ada@agents.test>\nSubject: Invoice\n\nHello Ada,\n\ncan you send the invoice?\n`
  ],
  [
    "Outlook, German",
    `${NEW}\n\n________________________________\nVon: Bob Smith <bob@example.com>\nGesendet: Montag, 23. November 2026 09:41\nAn: Ada <ada@agents.test>\nBetreff: Rechnung\n\nHallo Ada,\n\nschickst du die Rechnung?\n`
  ],
  [
    "Outlook, French",
    `${NEW}\n\n________________________________\nDe : Bob Smith <bob@example.com>\nEnvoyé : lundi 23 novembre 2026 09:41\nÀ : Ada <ada@agents.test>\nObjet : Facture\n\nBonjour Ada,\n\npeux-tu envoyer la facture ?\n`
  ],
  [
    "an older Outlook",
    `${NEW}\n\n-----Original Message-----\nFrom: Bob Smith [mailto:bob@example.com]\nSent: Monday, November 23, 2026 9:41 AM\nTo: Ada\nSubject: Invoice\n\nHello Ada\n`
  ],
  ["a mail that is no reply", `${NEW}\n`],
  ["a mail with a signature", `${NEW}\n\n-- \nBob Smith\n+1 415 555 0100\n`]
]

describe("the new part of a reply", () => {
  it.each(SAMPLES)("is found in a mail from %s", (_, text) => {
    expect(extractReply(text)).toBe(NEW)
    expect(extractReply(text.replaceAll("\n", "\r\n"))).toBe(NEW)
  })

  it("is all that stands between and below quotes", () => {
    expect(extractReply("> First question?\nFirst answer.\n\n> Second question?\n\nSecond answer.\n")).toBe(
      "First answer.\nSecond answer."
    )
  })

  it("is null for no text, for a quote alone, and for a very long text", () => {
    expect(extractReply(null)).toBeNull()
    expect(extractReply(" \n")).toBeNull()
    expect(extractReply(QUOTE)).toBeNull()
    expect(extractReply("word ".repeat(30_000))).toBeNull()
  })
})

describe("the labeled replies", () => {
  const read = ({ kind, text }: (typeof LABELED_REPLIES)[number]) => extractReply(text, kind)

  it("are more than 450, in more than 30 languages, each named once", () => {
    expect(LABELED_REPLIES.length).toBeGreaterThan(450)
    expect(LANGUAGES.length).toBeGreaterThan(30)
    expect(new Set(LABELED_REPLIES.map(({ name }) => name)).size).toBe(LABELED_REPLIES.length)
  })

  it("keep every word of their authors", () => {
    const { kept, losing, own } = score(LABELED_REPLIES, read)
    expect(losing).toEqual([])
    expect(kept).toBe(own)
  })

  it("lose every quotation, unless its answers have no marks", () => {
    expect(
      score(
        LABELED_REPLIES.filter(({ isUnmarkedInline }) => isUnmarkedInline !== true),
        read
      ).leaving
    ).toEqual([])
  })

  it("are read alike with the line ends of mail", () => {
    for (const { kind, text } of LABELED_REPLIES)
      expect(extractReply(text.replaceAll("\n", "\r\n"), kind)).toBe(extractReply(text, kind))
  })
})

describe("the text of HTML", () => {
  const QUOTED = "<div>Hello Bob,</div><div>which size?</div>"
  const ADA = 'Ada &lt;<a href="mailto:ada@example.org">ada@example.org</a>&gt;'
  it.each([
    [
      "Gmail",
      `<div dir="ltr">Large.</div><br><div class="gmail_quote"><div dir="ltr" class="gmail_attr">On Mon, Sep 14, 2026 at 9:12 AM ${ADA} wrote:<br></div><blockquote class="gmail_quote">${QUOTED}</blockquote></div>`
    ],
    [
      "Gmail, in a language that is not known",
      `<div dir="ltr">Large.</div><br><div class="gmail_quote"><div dir="ltr" class="gmail_attr">2026(e)ko ira. 14(a) (9:12), ${ADA} idatzi du:<br></div><blockquote class="gmail_quote">${QUOTED}</blockquote></div>`
    ],
    [
      "Outlook",
      `<p>Large.</p><hr style="display:inline-block;width:98%"><div id="divRplyFwdMsg"><b>From:</b> ${ADA}<br><b>Sent:</b> Monday, September 14, 2026 9:12 AM<br><b>To:</b> Bob<br><b>Subject:</b> Size</div><div>${QUOTED}</div>`
    ],
    [
      "Outlook, with paragraphs as fields",
      `<p>Large.</p><p><b>Von:</b> ${ADA}</p><p><b>Gesendet:</b> Montag, 14. September 2026 09:12</p><p><b>An:</b> Bob</p><p><b>Betreff:</b> Gr&ouml;&szlig;e</p><p>Hallo</p>`
    ],
    [
      "Yahoo",
      `<div>Large.</div><div class="yahoo_quoted"><div>On Monday, September 14, 2026 at 09:12:33 AM GMT+2, Ada &lt;ada@example.org&gt; wrote: </div><div>${QUOTED}</div></div>`
    ],
    [
      "Apple Mail",
      `Large.<br><blockquote type="cite"><div>On Sep 14, 2026, at 9:12 AM, Ada &lt;ada@example.org&gt; wrote:</div><br>${QUOTED}</blockquote>`
    ],
    [
      "Proton",
      `<div>Large.</div><div class="protonmail_quote">On Monday, September 14th, 2026 at 9:12 AM, Ada &lt;ada@example.org&gt; wrote:<br><blockquote class="protonmail_quote">${QUOTED}</blockquote></div>`
    ],
    [
      "Zoho",
      `<div>Large.</div><div class="zmail_extra"><div>---- On Mon, 14 Sep 2026 09:12:00 +0200 <b>Ada &lt;ada@example.org&gt;</b> wrote ---</div><blockquote>${QUOTED}</blockquote></div>`
    ]
  ])("of %s loses its quotation", (_, html) => {
    expect(extractReply(textOfHtml(html))).toBe("Large.")
  })
})

describe("the kind of a mail", () => {
  it.each([
    ["Order", undefined, false, false],
    ["Order", "<1@example.org>", true, false],
    ["Re: Order", undefined, true, false],
    ["AW: Bestellung", undefined, true, false],
    ["Re[2]: Order", undefined, true, false],
    ["回复：订单", undefined, true, false],
    ["Fwd: Order", undefined, false, true],
    ["WG: Bestellung", "<1@example.org>", true, true],
    ["轉寄: 訂單", undefined, false, true],
    ["Re: Fwd: Order", undefined, true, false],
    ["Trial", undefined, false, false]
  ])("%s", (subject, answered, isReply, isForward) => {
    expect(mailKindOf(subject, answered)).toEqual({ isReply, isForward })
  })
})
