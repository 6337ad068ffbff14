import { describe, expect, it } from "vitest"
import { extractReply } from "../../src/parser/ExtractReply.ts"

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
