import type { LabeledReply } from "./LabeledReply.ts"

const ADA = "Ada Lovelace <ada@example.org>"
const M = "> Which size?\n> And which color?"
const FIRST_MAIL = { isReply: false, isForward: false }

/** Texts that were written after the reader, as a test with unseen texts: docs/mail-fidelity.md has its first result. */
const above: ReadonlyArray<readonly [name: string, quotation: string]> = [
  ["Gmail, Catalan", `Missatge de ${ADA} del dia dl., 14 de set. 2026 a les 9:12:\n\n${M}`],
  ["Gmail, Basque", `Honela erantzun du ${ADA} erabiltzaileak (2026 ira. 14, al. (9:12)):\n\n${M}`],
  ["Gmail, Slovenian", `V pon., 14. sep. 2026 ob 09:12 je oseba ${ADA} napisala:\n\n${M}`],
  ["Gmail, Lithuanian", `2026-09-14, pr, 09:12 ${ADA} rašė:\n\n${M}`],
  ["Gmail, Latvian", `pirmd., 2026. g. 14. sept., plkst. 09:12 — lietotājs ${ADA} rakstīja:\n\n${M}`],
  ["Gmail, Estonian", `Kuupäev E, 14. september 2026 kell 09:12 kirjutas kasutaja ${ADA}:\n\n${M}`],
  ["Gmail, Serbian", `пон, 14. сеп 2026. у 09:12 ${ADA} је написао/ла:\n\n${M}`],
  ["Gmail, Persian", `در تاریخ دوشنبه ۱۴ سپتامبر ۲۰۲۶،‏ ۹:۱۲ ${ADA} نوشت:\n\n${M}`],
  ["Gmail, Hindi", `सोम, 14 सित॰ 2026 को 9:12 am बजे को ${ADA} ने लिखा:\n\n${M}`],
  ["Gmail, Bengali", `সোম, ১৪ সেপ, ২০২৬ তারিখে ৯:১২ AM টায় ${ADA} লিখেছেন:\n\n${M}`],
  ["Gmail, Filipino", `Noong Lun, Set 14, 2026 nang 9:12 AM, sumulat si ${ADA}:\n\n${M}`],
  ["Gmail, Malay", `Pada Isn, 14 Sep 2026 pada 9:12 PG ${ADA} menulis:\n\n${M}`],
  ["Gmail, Swahili", `Mnamo Jtt, 14 Sep 2026 saa 9:12 AM ${ADA} aliandika:\n\n${M}`],
  ["Gmail, Afrikaans", `Op Ma. 14 Sep. 2026 om 09:12 het ${ADA} geskryf:\n\n${M}`],
  ["Gmail, Icelandic", `mán., 14. sep. 2026 kl. 09:12 skrifaði ${ADA}:\n\n${M}`],
  ["Gmail, Galician", `O lun., 14 de set. de 2026 ás 9:12, ${ADA} escribiu:\n\n${M}`],
  [
    "Gmail, wrapped inside the address",
    `On Mon, Sep 14, 2026 at 9:12 AM Customer Care of the Example Company <\ncustomer.care.of.the.example.company@example.org> wrote:\n\n${M}`
  ],
  ["Gmail, wrapped in the date", `On Mon, Sep 14,\n2026 at 9:12 AM ${ADA} wrote:\n\n${M}`],
  [
    "Gmail, via a list",
    `On Mon, Sep 14, 2026 at 9:12 AM 'Ada Lovelace' via Chairs <\nchairs@lists.example.org> wrote:\n\n${M}`
  ],
  [
    "Gmail, name with a comma",
    `On Mon, Sep 14, 2026 at 9:12 AM Lovelace, Ada (Chairs) <ada@example.org>\nwrote:\n\n${M}`
  ],
  ["Gmail, name that is an address", `On Mon, Sep 14, 2026 at 9:12 AM <ada@example.org> wrote:\n\n${M}`],
  ["Gmail, name My", `On Mon, Sep 14, 2026 at 9:12 AM My Nguyen <my@example.org> wrote:\n\n${M}`],
  ["Gmail, name The Shop", `On Mon, Sep 14, 2026 at 9:12 AM The Shop <shop@example.org> wrote:\n\n${M}`],
  [
    "Gmail, name with the word the",
    `On Mon, Sep 14, 2026 at 9:12 AM Chairs for the people <shop@example.org> wrote:\n\n${M}`
  ],
  ["Gmail, name Die Firma", `Am Mo., 14. Sept. 2026 um 09:12 Uhr schrieb Die Firma <firma@example.org>:\n\n${M}`],
  [
    "Apple Mail, Danish, in marks and wrapped",
    `> Den 14. sep. 2026 kl. 09.12 skrev Ada Lovelace med et langt navn\n> <ada@example.org>:\n> \n${M}`
  ],
  ["Apple Mail, Traditional Chinese", `> Ada Lovelace <ada@example.org> 於 2026年9月14日 上午9:12 寫道：\n> \n${M}`],
  ["Thunderbird, Greek", `Στις 14/9/2026 9:12 π.μ., ο/η Ada Lovelace έγραψε:\n${M}`],
  ["Thunderbird, Hebrew", `‏‏בתאריך 14/09/2026 בשעה 9:12, Ada כתבה:\n${M}`],
  ["Thunderbird, Slovenian", `Dne 14. 09. 2026 ob 09:12 je Ada Lovelace napisal(a):\n${M}`],
  [
    "Outlook, Korean, new",
    `보낸 사람: ${ADA}\n보낸 시간: 2026년 9월 14일 월요일 오전 9:12\n받는 사람: Bob <bob@example.com>\n제목: 주문\n\n어떤 크기?`
  ],
  [
    "Outlook, Chinese with wide colons",
    `发件人：${ADA}\n发送时间：2026年9月14日 9:12\n收件人：Bob <bob@example.com>\n主题：订单\n\n什么尺寸？`
  ],
  [
    "Outlook, Estonian",
    `Saatja: ${ADA}\nSaadetud: esmaspäev, 14. september 2026 9:12\nAdressaat: Bob\nTeema: Tellimus\n\nMis suurus?`
  ],
  [
    "Outlook, Lithuanian",
    `Nuo: ${ADA}\nIšsiųsta: 2026 m. rugsėjo 14 d. 9:12\nKam: Bob\nTema: Užsakymas\n\nKoks dydis?`
  ],
  [
    "Outlook, Slovenian",
    `Od: ${ADA}\nPoslano: ponedeljek, 14. september 2026 9:12\nZa: Bob\nZadeva: Naročilo\n\nVelikost?`
  ],
  [
    "Outlook, without addresses",
    `From: Ada Lovelace\nSent: Monday, September 14, 2026 9:12 AM\nTo: Bob Smith\nSubject: RE: Order\n\nWhich size?`
  ],
  [
    "Outlook, no subject",
    `From: ${ADA}\nSent: Monday, September 14, 2026 9:12 AM\nTo: Bob Smith\nSubject:\n\nWhich size?`
  ],
  [
    "Outlook, a list of dashes above",
    `-----------------------------------------\nFrom: ${ADA}\nSent: Monday, September 14, 2026 9:12 AM\nTo: Bob Smith\nSubject: Order\n\nWhich size?`
  ],
  [
    "Outlook, with a warning of its company",
    `________________________________\nFrom: ${ADA}\nSent: Monday, September 14, 2026 9:12 AM\nTo: Bob Smith\nSubject: Order\n\nCAUTION: This email originated from outside.\n\nWhich size?`
  ],
  [
    "Outlook, the quoted mail has a list",
    `________________________________\nFrom: ${ADA}\nSent: Monday, September 14, 2026 9:12 AM\nTo: Bob Smith\nSubject: Order\n\n* Which size?\n- Which color?\n1. Which price?`
  ],
  [
    "Outlook, a chain of mails",
    `________________________________\nFrom: ${ADA}\nSent: Monday, September 14, 2026 9:12 AM\nTo: Bob Smith\nSubject: RE: Order\n\nWhich size?\n\nFrom: Bob <bob@example.com>\nSent: Sunday, September 13, 2026 9:12 AM\nTo: Ada\nSubject: Order\n\nHello`
  ],
  ["Yahoo, Spanish", `El lunes, 14 de septiembre de 2026, 09:12:33 CEST, ${ADA} escribió:\n\nWhich size?`],
  ["Yahoo, German", `Am Montag, 14. September 2026 um 09:12:33 MESZ hat ${ADA} Folgendes geschrieben:\n\nWhich size?`],
  ["Yahoo, French", `Le lundi 14 septembre 2026 à 09:12:33 UTC+2, ${ADA} a écrit :\n\nWhich size?`],
  ["Yahoo, Italian", `Il lunedì 14 settembre 2026 alle ore 09:12:33 CEST, ${ADA} ha scritto:\n\nWhich size?`],
  [
    "T-Online",
    `-----Original-Nachricht-----\nBetreff: Bestellung\nDatum: 2026-09-14T09:12:33+0200\nVon: "Ada" <ada@example.org>\nAn: "bob@example.com" <bob@example.com>\n\nWhich size?`
  ],
  [
    "La Poste",
    `> Message du 14/09/2026 09:12\n> De : "Ada" <ada@example.org>\n> A : bob@example.com\n> Copie à :\n> Objet : Commande\n>\n${M}`
  ],
  ["Libero", `> Il 14/09/2026 09:12 Ada <ada@example.org> ha scritto:\n>\n${M}`],
  ["OX", `> Ada <ada@example.org> hat am 14.09.2026 09:12 CEST geschrieben:\n>\n${M}`],
  ["Fastmail", `On Mon, 14 Sep 2026, at 9:12 AM, Ada Lovelace wrote:\n${M}`],
  ["Tutanota", `14. Sept. 2026, 09:12 von ada@example.org:\n\n${M}`],
  ["Tutanota, English", `Sep 14, 2026, 9:12 AM by ada@example.org:\n\n${M}`],
  ["Spark", `On 14 Sep 2026 at 09:12 +0200, ${ADA}, wrote:\n${M}`],
  ["Nine", `From: ${ADA}\nSent: Mon, Sep 14, 2026 9:12\nTo: Bob\nSubject: Order\n\nWhich size?`],
  ["Re:amaze", `On September 14, 2026 at 09:12 (UTC), Ada wrote:\n${M}`],
  ["Zendesk", `##- Bitte geben Sie Ihre Antwort über dieser Zeile ein. -##\n\nWhich size?`],
  ["Jira", `—-—-—-—\nReply above this line.\n\nAda commented: which size?`],
  ["an offset quote mark", `On Mon, Sep 14, 2026 at 9:12 AM ${ADA} wrote:\n  > Which size?\n  > Which color?`],
  ["a quote without spaces", `On Mon, Sep 14, 2026 at 9:12 AM ${ADA} wrote:\n>Which size?\n>>Old\n>Which color?`]
]

const whole: ReadonlyArray<readonly [name: string, text: string, kind?: LabeledReply["kind"]]> = [
  ["a thank you with a name", "Thanks,\nBob"],
  ["a meeting with a date", "Meeting on 14.09.2026 at 10:30:\n\n- chairs\n- tables"],
  ["a transcript of a chat", "Here is the chat:\n\n[09:12] Ada: which size?\n[09:13] Bob: large"],
  ["a log", "2026-09-14 09:12:33 Error: no chair\n2026-09-14 09:12:34 Error: no table\n\nWhat is this?"],
  [
    "a letter in the text",
    "Draft of my letter:\n\nFrom: Bob Smith, Main Street 5\nTo: The Council\nDate: 14 September 2026\n\nDear council, please plant trees."
  ],
  ["a citation with its author", 'As Ada wrote in 2026: "Chairs are tables."\nI disagree.'],
  ["said in a sentence", "On 14.09.2026 the board said:\n- no chairs\n- no tables"],
  ["an email address and a colon", "Please write on 14.09.2026 at 10:30 to eve@example.com:\nthe order is late."],
  ["a diary", "Monday, 14 September 2026, 10:30: we met.\nTuesday: we slept."],
  ["a reminder", "Sent: two boxes.\nTo: the office.\nFrom: Oslo."],
  ["XML", "<from>Ada</from>\n> is a quote mark in XML, too.", FIRST_MAIL],
  ["an arrow list", "Plan:\n> buy chairs\n> sell chairs\nDone.", FIRST_MAIL],
  ["a Lisp prompt", "> (+ 1 2)\n3\n\nWhy 3?", FIRST_MAIL],
  ["stars as a line", "Part one\n**********\nPart two"],
  ["a mail about a phone", "I was sent a bill from my phone company.\nSent from my old address, it was late."],
  ["sent with love", "Sent with love from Paris.\n\nBob"],
  ["Gesendet in a sentence", "Gesendet mit der Post am Montag.\nEs dauert zwei Tage."],
  [
    "a signature in the middle of an agreement",
    "Signed:\n-- \nBob Smith\n\n1. The seller delivers ten chairs to the office of the buyer.\n2. The buyer pays within thirty days.\n3. Each party can cancel.\n4. Norwegian law applies.\n5. The contract has five pages.\n6. It begins on Monday.\n7. It ends in a year.\n8. It can be renewed.\n9. Nothing else was agreed.\n10. Both have read it.\n11. Both have a copy.\n12. Witnesses were present."
  ],
  ["a subject line in the text", "Subject: my order of Monday\n\nI never received it."],
  ["reply above this line in a sentence", "Your mail says to reply above this line, but where is it?"]
]

const OWN = "Large, please.\n\nAnd the blue one."

export const LATER_REPLIES: ReadonlyArray<LabeledReply> = [
  ...above.map(([name, quotation]) => ({
    name,
    text: `${OWN}\n\n${quotation}\n`,
    own: OWN,
    neutral: "-----------------------------------------\n—-—-—-—"
  })),
  ...whole.map(([name, text, kind]) => ({ name, text, own: text, ...(kind === undefined ? {} : { kind }) }))
]
