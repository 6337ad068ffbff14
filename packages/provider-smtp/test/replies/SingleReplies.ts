import type { LabeledReply } from "./LabeledReply.ts"

const ADA = "Ada Lovelace <ada@example.org>"
const OLD = "Hello Bob,\n\nwhich size do you need?\n\nAda"
const MARKED = "> Hello Bob,\n>\n> which size do you need?\n>\n> Ada"
const GMAIL = `On Mon, Sep 14, 2026 at 9:12 AM ${ADA} wrote:`
const OWN = "The large one, please.\n\nSend it to the office."
const HEADER = `From: ${ADA}\nSent: Monday, September 14, 2026 9:12 AM\nTo: Bob <bob@example.com>\nSubject: Your order`
const FIRST_MAIL = { isReply: false, isForward: false }
const FORWARD = { isReply: false, isForward: true }

/** Texts above a quotation as programs write it. */
const programs: ReadonlyArray<readonly [program: string, quotation: string]> = [
  ["Yahoo", `On Monday, September 14, 2026 at 09:12:33 AM GMT+2, ${ADA} wrote:  \n \n ${OLD}`],
  [
    "Yahoo, with indented lines",
    `    On Monday, September 14, 2026 at 09:12:33 AM GMT+2, ${ADA} wrote:  \n \n  ${OLD}`
  ],
  [
    "Proton, old",
    `------- Original Message -------\nOn Monday, September 14th, 2026 at 9:12 AM, ${ADA} wrote:\n\n\n${MARKED}`
  ],
  ["Proton, new", `On Monday, September 14th, 2026 at 9:12 AM, ${ADA} wrote:\n\n${MARKED}`],
  [
    "Proton, bridge",
    `----------- Original Message -----------\nFrom: "Ada L."\nDate: Monday, September 14th 2026 at 9:12 am\nSubject: Your order\nTo: "Bob" ,\nCc: "Eve"\n\n> Hello Bob,\n > \n > which size do you need?\n> Ada`
  ],
  ["Zoho", `---- On Mon, 14 Sep 2026 09:12:00 +0200 ${ADA} wrote ----\n\n${OLD}`],
  ["Zoho, new", `---- On Mon, 14 Sep 2026 09:12:00 +0200 Ada Lovelace<ada@example.org> wrote ---\n\n${OLD}`],
  ["Mailspring", `On Sep 14 2026, at 9:12 am, ${ADA} wrote:\n${MARKED}`],
  ["Superhuman", `On Mon, Sep 14, 2026 at 9:12 AM, Ada Lovelace < ada@example.org > wrote:\n\n${MARKED}`],
  ["Front", `On September 14, 2026, 9:12 AM GMT+2 ada@example.org wrote:\n\n${MARKED}`],
  ["Missive", `On September 14, 2026 at 9:12 AM, Ada Lovelace (ada@example.org) wrote:\n\n${MARKED}`],
  ["HEY", `On September 14, 2026, ${ADA} wrote:\n${MARKED}`],
  ["Airmail", `On 14 Sep 2026 at 09:12 +0200, ${ADA}, wrote:\n${MARKED}`],
  ["Sparrow", `On Monday, 14 September 2026 at 09:12, Ada Lovelace said:\n\n${MARKED}`],
  [
    "Samsung",
    `-------- Original message --------\nFrom: ${ADA} \nDate: 14/09/2026  09:12  (GMT+01:00) \nTo: bob@example.com \nSubject: Your order \n\n${OLD}`
  ],
  [
    "Samsung, German",
    `-------- Ursprüngliche Nachricht --------\nVon: ${ADA} \nDatum: 14.09.26  09:12  (GMT+01:00) \nAn: bob@example.com \nBetreff: Bestellung \n\n${OLD}`
  ],
  [
    "Samsung, Spanish",
    `-------- Mensaje original --------\nDe: ${ADA} \nFecha: 14/9/26  09:12  (GMT+01:00) \nPara: bob@example.com \nAsunto: Pedido \n\n${OLD}`
  ],
  [
    "Samsung, Polish",
    `-------- Oryginalna wiadomość --------\nOd: ${ADA} \nData: 14.09.2026  09:12  (GMT+01:00) \nDo: bob@example.com \nTemat: Zamówienie \n\n${OLD}`
  ],
  [
    "Samsung, Japanese",
    `-------- 元のメッセージ --------\n差出人: ${ADA} \n日付: 2026/09/14  9:12  (GMT+09:00) \n宛先: bob@example.com \n件名: 注文 \n\n${OLD}`
  ],
  [
    "Naver",
    `-----Original Message-----\nFrom: "Ada"<ada@example.org>\nTo: "Bob"<bob@example.com>;\nCc:\nSent: 2026-09-14 (월) 09:12:33 (GMT+09:00)\nSubject: 주문\n\n${OLD}`
  ],
  [
    "Daum",
    `--------- 원본 메일 ---------\n보낸사람: Ada <ada@example.org>\n받는사람: Bob <bob@example.com>\n날짜: 2026년 9월 14일 월요일, 09시 12분 33초 +0900\n제목: 주문\n\n${OLD}`
  ],
  [
    "QQ",
    `------------------ 原始邮件 ------------------\n发件人: "Ada" <ada@example.org>;\n发送时间: 2026年9月14日(星期一) 上午9:12\n收件人: "Bob"<bob@example.com>;\n主题: 订单\n\n${OLD}`
  ],
  [
    "QQ, English",
    `------------------ Original ------------------\nFrom: "Ada" <ada@example.org>;\nDate: Mon, Sep 14, 2026 09:12 AM\nTo: "Bob"<bob@example.com>;\nSubject: Order\n\n${OLD}`
  ],
  ["Foxmail", ` \n发件人： Ada\n发送时间： 2026-09-14 09:12\n收件人： bob@example.com\n主题： 订单\n${OLD}`],
  ["NetEase 163", `At 2026-09-14 09:12:33, "Ada" <ada@example.org> wrote:\n${MARKED.replaceAll("> ", ">")}`],
  ["NetEase 163, Chinese", `在 2026-09-14 09:12:33，"Ada" <ada@example.org> 写道：\n${MARKED.replaceAll("> ", ">")}`],
  ["Mail.ru", `Понедельник, 14 сентября 2026, 9:12 +03:00 от ${ADA}:\n>Здравствуйте,\n>\n>какой размер вам нужен?`],
  ["Yandex", `14.09.2026, 09:12, "Ada" <ada@example.org>:\n\n> Здравствуйте,\n> какой размер вам нужен?`],
  [
    "Lotus Notes, header",
    `From:   Ada Lovelace/DE/Example\nTo:     Bob/US/Example@Example\nDate:   14/09/2026 09:12\nSubject:        Your order\n\n${OLD}`
  ],
  ["Lotus Notes, wrote", `Ada Lovelace <ada@example.org> wrote on 14/09/2026 09:12:33:\n\n${MARKED}`],
  [
    "GMX",
    `Gesendet: Montag, 14. September 2026 um 09:12 Uhr\nVon: "Ada Lovelace" <ada@example.org>\nAn: bob@example.com\nBetreff: Bestellung\n\n${OLD}`
  ],
  ["Mutt", `On Mon, Sep 14, 2026 at 09:12:33AM +0200, Ada Lovelace wrote:\n${MARKED}`],
  ["Mutt, with an address in brackets", `* ${ADA} [2026-09-14 09:12]:\n\n${MARKED}`],
  ["Gnus", `${ADA} writes:\n\n${MARKED}`],
  ["AOL", `In a message dated 9/14/2026 9:12:33 AM Central European Summer Time, ada@example.org writes:\n\n${MARKED}`],
  ["Horde", `Quoting ${ADA}:\n\n${MARKED}`],
  ["Horde, German", `Zitat von ${ADA}:\n\n${MARKED}`],
  ["Gmail of 2014", `2026-09-14 9:12 GMT+02:00 ${ADA}:\n\n${MARKED}`],
  ["KMail", `On Monday, 14 September 2026 09:12:33 CEST Ada Lovelace wrote:\n${MARKED}`],
  ["Evolution", `On Mon, 2026-09-14 at 09:12 +0200, Ada Lovelace wrote:\n${MARKED}`],
  ["Roundcube", `On 2026-09-14 09:12, Ada Lovelace wrote:\n${MARKED}`],
  ["Roundcube, German", `Am 2026-09-14 09:12, schrieb Ada Lovelace:\n${MARKED}`],
  ["Claws Mail", `On Mon, 14 Sep 2026 09:12:33 +0200\n${ADA} wrote:\n\n${MARKED}`],
  ["a program that gives only a name", `Ada Lovelace wrote:\n${MARKED}`],
  ["a program that gives a day", `On Monday, Acme wrote:\n${MARKED}`],
  [
    "Outlook of 2003",
    `-----Original Message-----\nFrom: Ada Lovelace [mailto:ada@example.org]\nSent: Monday, September 14, 2026 9:12 AM\nTo: Bob\nSubject: Your order\n\n${OLD}`
  ],
  [
    "Outlook in Gmail's text",
    `*From:* ${ADA}\n*Sent:* Monday, September 14, 2026 9:12 AM\n*To:* Bob <bob@example.com>\n*Subject:* Your order\n\n${OLD}`
  ],
  [
    "Outlook with many recipients",
    `${HEADER.replace("\nSubject", "; Eve <eve@example.com>;\n Dan <dan@example.com>; Faye\n <faye@example.com>\nCc: Gus <gus@example.com>\nSubject")}\n\n${OLD}`
  ],
  ["Outlook with an importance", `${HEADER}\nImportance: High\n\n${OLD}`],
  [
    "Outlook for Mac",
    `From: ${ADA}\nDate: Monday, September 14, 2026 at 9:12 AM\nTo: Bob <bob@example.com>\nSubject: Your order\n\n${OLD}`
  ],
  [
    "Outlook for Mac, German",
    `Von: ${ADA}\nDatum: Montag, 14. September 2026 um 09:12\nAn: Bob <bob@example.com>\nBetreff: Bestellung\n\n${OLD}`
  ],
  ["Outlook 2019, German", `Am 14.09.26, 09:12 schrieb "Ada Lovelace" <ada@example.org>:\n\n    ${OLD}`],
  ["Outlook 2019, French", `Le 14/09/2026 09:12, « Ada Lovelace » <ada@example.org> a écrit :\n\n    ${OLD}`],
  ["Outlook 2019, Turkish", `"Ada Lovelace" <ada@example.org>, 14.09.2026 09:12 tarihinde şunu yazdı:\n\n    ${OLD}`],
  ["Outlook 2019, Norwegian", `Ada Lovelace <ada@example.org> skrev følgende den 14.09.2026 09:12:\n\n    ${OLD}`],
  [
    "HTML, with an address of a link",
    `On Mon, Sep 14, 2026 at 9:12 AM Ada Lovelace <ada@example.org <mailto:ada@example.org>> wrote:\n\n${MARKED}`
  ],
  [
    "a list of two quotes",
    `${GMAIL}\n\n${MARKED}\n>\n> On Sun, Sep 13, 2026 at 8:00 AM Bob <bob@example.com> wrote:\n>\n>> Hello Ada`
  ],
  ["a ticket system", `${GMAIL}\n\n> ##- Please type your reply above this line -##\n> which size do you need?`],
  ["a ticket system without marks", `-- reply above this line --\n\n${OLD}`],
  ["a ticket system, German", `Bitte antworten Sie oberhalb dieser Zeile.\n\n${OLD}`],
  ["a ticket system, French", `## Merci de répondre au-dessus de cette ligne ##\n\n${OLD}`]
]

/** Texts that are the author's as a whole. */
const whole: ReadonlyArray<readonly [name: string, text: string, kind?: LabeledReply["kind"]]> = [
  ["a first mail", "Hello,\n\nI want to order a chair.\n\nBest regards,\nBob", FIRST_MAIL],
  ["regards in the middle", "Please send it.\n\nBest regards,\nBob\n\nThe address is Main Street 5.\nRing twice."],
  ["regards and a title", "Please send it.\n\nKind regards,\n\nBob Smith\nHead of Chairs"],
  ["cheers in a sentence", "Cheers,\nthat works.\nSend it on Monday."],
  ["sent from the warehouse", "Sent from the warehouse in Oslo, it takes two days.\n\nSent from Bergen, it takes one."],
  ["sent from my office", "Sent from my office to yours: ten boxes.\n\nPlease count them."],
  ["a German sentence about sending", "Gesendet von Halle 3 an Halle 4.\nBitte prüfen."],
  ["a line of underscores", "Price list\n________________________________\nA 1\nB 2"],
  ["a line of dashes", "Price list\n--------------------\nA 1\nB 2"],
  ["two dashes as a line", "Options:\n--\nA, large\n--\nB, small"],
  ["equals signs", "Summary\n=======\nAll is well.\n\n==\n\nDetails follow."],
  ["plus signs", "Pros\n++\ncheap\n+++\nfast"],
  ["a journey from and to", "Please book a train.\n\nFrom: Berlin\nTo: Paris\nDate: 14.09.2026 10:30\n\nOne adult."],
  ["a move from and to", "The parcel goes\nFrom: Warehouse 3\nTo: Warehouse 9\nWeight: 3 kg"],
  ["a Spanish route", "Reserva:\n\nDe: Madrid\nPara: Lisboa\nFecha: 14/09/2026\n\nUn adulto."],
  ["on Monday I wrote", "On Monday, I wrote: buy milk.\nNobody did."],
  ["on a date I wrote", "On 14 September 2026 at 9:12 I wrote:\nbuy milk.\nNobody did."],
  [
    "the customer wrote",
    "On 14 September 2026 at 9:12 the customer wrote:\n\nThe machine is broken.\n\nWhat do we do?"
  ],
  ["what he wrote", "He wrote:\nthe order is late.\nIs that true?"],
  ["a colon and a list", "The meeting of 14.09.2026, 10:30, with Eve <eve@example.com>:\n- budget\n- chairs"],
  ["a shell session", "Run this:\n\n> npm install\n> npm start\n\nThen open the page."],
  ["a shell session in a first mail", "I ran it.\n\n> npm install\n> npm start\n\nIt fails.", FIRST_MAIL],
  [
    "a Markdown quote in a first mail",
    "As Knuth says\n\n> Premature optimization is the root of all evil.\n\nI agree.",
    FIRST_MAIL
  ],
  ["a Markdown quote after a colon", "The manual says:\n\n> Do not open the lid.\n\nIs that serious?"],
  ["a comparison", "We need values\n> 50 and\n< 70 for this.", FIRST_MAIL],
  ["a diff", "The change is:\n\n< old\n> new\n\nPlease merge."],
  ["a disclaimer", "The invoice is attached.\n\nThis e-mail is confidential. If you are not the recipient, delete it."],
  ["a disclaimer below stars", "The invoice is attached.\n\n*** CONFIDENTIAL ***\nDelete it if it is not for you."],
  [
    "a list of people with addresses",
    "Invite these:\n\nFrom: Acme\nEve <eve@example.com>\nTo: us\nDan <dan@example.com>"
  ],
  ["original message in a sentence", "Your original message did not arrive.\nPlease send it again."],
  ["a table with a header", "Name | From | To\n-----|------|---\nAda | 1 | 2"],
  [
    "subject and to in the text",
    "Use this draft.\n\nTo: eve@example.com\nSubject: Offer\n\nDear Eve, here is the offer."
  ],
  ["a spam that the author shows", `I received this:\n\n${HEADER}\n\nYou won a prize.\n\nIs it genuine?`],
  [
    "a forward of Gmail",
    `For your information.\n\n---------- Forwarded message ---------\nFrom: ${ADA}\nDate: Mon, Sep 14, 2026 at 9:12 AM\nSubject: Invoice\nTo: <bob@example.com>\n\n\nThe invoice is 40 EUR.`,
    FORWARD
  ],
  [
    "a forward of Gmail without words",
    `---------- Forwarded message ---------\nFrom: ${ADA}\nDate: Mon, Sep 14, 2026 at 9:12 AM\nSubject: Invoice\nTo: <bob@example.com>\n\n\nThe invoice is 40 EUR.`,
    FORWARD
  ],
  [
    "a forward of Apple Mail",
    `Please pay.\n\n> Begin forwarded message:\n> \n> From: ${ADA}\n> Subject: Invoice\n> Date: September 14, 2026 at 9:12:33 AM GMT+2\n> To: Bob <bob@example.com>\n> \n> The invoice is 40 EUR.`,
    FORWARD
  ],
  [
    "a forward of Apple Mail without marks",
    `Please pay.\n\nBegin forwarded message:\n\nFrom: ${ADA}\nSubject: Invoice\nDate: September 14, 2026 at 9:12:33 AM GMT+2\nTo: Bob <bob@example.com>\n\nThe invoice is 40 EUR.`,
    FORWARD
  ],
  [
    "a forward of Outlook",
    `Please pay.\n\n________________________________\n${HEADER}\n\nThe invoice is 40 EUR.`,
    FORWARD
  ],
  ["a forward of Outlook without words", `${HEADER}\n\nThe invoice is 40 EUR.`],
  [
    "a forward of Thunderbird",
    `Please pay.\n\n-------- Forwarded Message --------\nSubject: \tInvoice\nDate: \tMon, 14 Sep 2026 09:12:33 +0200\nFrom: \t${ADA}\nTo: \tbob@example.com\n\nThe invoice is 40 EUR.`,
    FORWARD
  ],
  [
    "a forward of Thunderbird, German",
    `Bitte zahlen.\n\n-------- Weitergeleitete Nachricht --------\nBetreff: \tRechnung\nDatum: \tMon, 14 Sep 2026 09:12:33 +0200\nVon: \t${ADA}\nAn: \tbob@example.com\n\nDie Rechnung beträgt 40 EUR.`,
    FORWARD
  ],
  [
    "a forward of a reply",
    `What do you think?\n\n---------- Forwarded message ---------\nFrom: ${ADA}\nDate: Mon, Sep 14, 2026 at 9:12 AM\nSubject: Re: Invoice\n\nPaid.\n\nOn Sun, Sep 13, 2026 at 8:00 AM Bob <bob@example.com> wrote:\n\n> Is it paid?`,
    FORWARD
  ],
  ["a postscript", "Please send it.\n\nBob\n\nPS: Not before Monday."]
]

const singles: ReadonlyArray<LabeledReply> = [
  ...[
    "##- Please type your reply above this line -##",
    "--- Reply above this line ---",
    "Write ABOVE THIS LINE to post a reply",
    "##- Пожалуйста, введите ответ над этой строкой -##",
    "##- Yanıtınızı bu satırın üzerine yazın -##"
  ].map((marker) => ({
    name: `a mail of a ticket system below ${marker}`,
    text: `${marker}\n\nYour ticket is solved.`,
    own: "Your ticket is solved.",
    kind: FIRST_MAIL
  })),
  {
    name: "a sentence at the beginning about the text above",
    text: "Please write your answer above this line.\n\nThe rest is for Bob.",
    own: "Please write your answer above this line.\n\nThe rest is for Bob."
  },
  {
    name: "answers inside a quotation of Outlook, marked A1",
    text: `My answers follow.\n\nBob\n\n________________________________\n${HEADER}\n\nQ1: Which size?\nA1: Large please.\nQ2: Which color?\nA2: Blue.`,
    own: "My answers follow.\nBob\nA1: Large please.\nA2: Blue.",
    isUnmarkedInline: true
  },
  {
    name: "answers inside a quotation of Outlook, with the name in brackets",
    text: `Thanks for the questions.\n\n${HEADER}\n\nWhich size?\n[Bob Smith] Large please.\nWhich color?\n[Bob Smith] Blue.`,
    own: "Thanks for the questions.\n[Bob Smith] Large please.\n[Bob Smith] Blue.",
    isUnmarkedInline: true
  },
  {
    name: "answers inside a quotation of Outlook, with arrows",
    text: `Hello Ada, thanks.\n\n${HEADER}\n\nWhich size?\n==> Large please.\nWhich color?\n==> Blue.`,
    own: "Hello Ada, thanks.\n==> Large please.\n==> Blue.",
    isUnmarkedInline: true
  },
  {
    name: "answers inside a quotation of Outlook, below a greeting",
    text: `Hello Ada,\n\n${HEADER}\n\nWhich size?\nLarge please.\nWhich color?\nBlue.`,
    own: "Hello Ada,\nLarge please.\nBlue.",
    isUnmarkedInline: true
  },
  {
    name: "an answer below a quotation of Outlook",
    text: `${HEADER}\n\nWhich size?\n\nLarge please.\n\nBob`,
    own: "Large please.\nBob",
    isUnmarkedInline: true
  },
  {
    name: "an answer below a quotation of Yahoo",
    text: `On Monday, September 14, 2026 at 09:12:33 AM GMT+2, ${ADA} wrote:\n\nWhich size?\n\nLarge please.`,
    own: "Large please.",
    isUnmarkedInline: true
  },
  {
    name: "an introduction that was deleted",
    text: "> First question?\nFirst answer.\n\n> Second question?\n\nSecond answer.",
    own: "First answer.\nSecond answer."
  },
  {
    name: "a greeting, and an introduction that was deleted",
    text: "Hello Ada,\n\n> Which size do you need?\nLarge.\n\n> And the color?\nBlue.\n\nBob",
    own: "Hello Ada,\nLarge.\nBlue.\nBob"
  },
  {
    name: "an answer right below a quoted line, and right above an introduction",
    text: "Large please.\nOn 9/14/26 09:12, Ada wrote:\n> Which size do you need?\nThe blue one.",
    own: "Large please.\nThe blue one."
  },
  {
    name: "an answer with a time above an introduction",
    text: `Let us meet at 10:30\n${ADA} wrote:\n> When?`,
    own: "Let us meet at 10:30"
  },
  {
    name: "an answer with a date above an introduction",
    text: `Delivered on 14.09.2026.\n\n${GMAIL}\n> When?`,
    own: "Delivered on 14.09.2026."
  },
  {
    name: "a Markdown quote above the quotation",
    text: `Let me end with a quote\n\n> Less is more.\n\n${GMAIL}\n\n${MARKED}`,
    own: "Let me end with a quote\n> Less is more."
  },
  {
    name: "a third person's words",
    text: `I asked the vendor, and last week the vendor wrote:\n> We can not deliver.\nSo I wait.\n\n${GMAIL}\n\n${MARKED}`,
    own: "I asked the vendor, and last week the vendor wrote:\nSo I wait.",
    neutral: "> We can not deliver."
  },
  {
    name: "a signature and a postscript",
    text: `Please send it.\n\n-- \nBob Smith\nExample Ltd.\n\nP.S. Not before Monday.\n\n${GMAIL}\n\n${MARKED}`,
    own: "Please send it.\nP.S. Not before Monday.",
    neutral: "-- \nBob Smith\nExample Ltd."
  },
  {
    name: "a signature without its space",
    text: `Please send it.\n\n--\nBob Smith\nExample Ltd.\n\n${GMAIL}\n\n${MARKED}`,
    own: "Please send it.",
    neutral: "--\nBob Smith\nExample Ltd."
  },
  {
    name: "a signature at the end of a long text",
    text: `${Array.from({ length: 40 }, (_, line) => `Item ${line} is fine.`).join("\n")}\n\n-- \nBob Smith`,
    own: Array.from({ length: 40 }, (_, line) => `Item ${line} is fine.`).join("\n"),
    neutral: "-- \nBob Smith"
  },
  {
    name: "a separator in the middle",
    text: `First topic.\n\n-- \n${Array.from({ length: 20 }, (_, line) => `Second topic, line ${line}.`).join("\n")}`,
    own: `First topic.\n${Array.from({ length: 20 }, (_, line) => `Second topic, line ${line}.`).join("\n")}`,
    neutral: "-- "
  },
  ...[
    "Get Outlook for iOS<https://aka.ms/o0ukef>",
    "Outlook für iOS beziehen<https://aka.ms/o0ukef>",
    "Télécharger Outlook pour Android<https://aka.ms/x>",
    "Sent from Yahoo Mail on Android",
    "Sent from Proton Mail for iOS",
    "Sent from Mail for Windows",
    "Sent from my Galaxy",
    "Gesendet von Outlook für Android",
    "Von Samsung Mobile gesendet",
    "Diese Nachricht wurde von meinem Android-Gerät mit K-9 Mail gesendet.",
    "Отправлено из мобильной Почты Mail",
    "发自我的手机",
    "Sent via Superhuman"
  ].map((signature) => ({
    name: `"${signature}"`,
    text: `${OWN}\n\n${signature}\n________________________________\n${HEADER}\n\n${OLD}`,
    own: OWN,
    neutral: `${signature}\n________________________________`
  }))
]

export const SINGLE_REPLIES: ReadonlyArray<LabeledReply> = [
  ...programs.map(([name, quotation]) => ({
    name,
    text: `${OWN}\n\n${quotation}\n`,
    own: OWN,
    neutral: "-- reply above this line --"
  })),
  ...whole.map(([name, text, kind]) => ({
    name,
    text: `${text}\n`,
    own: text,
    ...(kind === undefined ? {} : { kind })
  })),
  ...singles
]
