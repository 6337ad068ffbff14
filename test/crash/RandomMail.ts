import type { Random } from "../support/Random.ts"

/** The end of a mail for one of its recipients, if it was answered with 250. */
export type MailEnd = "message" | "report" | "message or report" | "for the operator" | "withheld"

export interface RandomMail {
  readonly kind: string
  /** A text that occurs in no other mail: in the subject, and in the text of a report. */
  readonly token: string
  readonly mailFrom: string
  /** The ends by recipient; undefined for one that must be refused. */
  readonly recipients: ReadonlyMap<string, MailEnd | undefined>
  readonly raw: Buffer
  /** Without a Message-ID, a repeated mail cannot be told from a new one. */
  readonly hasMessageId: boolean
}

/** The addresses that random mail is sent to. */
export interface MailTargets {
  readonly domain: string
  readonly mailboxes: ReadonlyArray<string>
  /** A mailbox whose policy does not admit `foe.test`. */
  readonly guarded: string
  /** Of messages that the service sent, each with its recipient. */
  readonly returnPaths: ReadonlyArray<{ readonly path: string; readonly recipient: string }>
}

type Fields = ReadonlyArray<string>
type Part = Omit<RandomMail, "kind" | "token">

interface Draft extends MailTargets {
  readonly token: string
  readonly random: Random
  readonly friend: string
}

const LONG_FIELD = `X-Long: ${"x".repeat(900)}`
/** More than 25 MiB. All mails share it, so that a run of thousands fits into memory. */
const OVERSIZED = Buffer.from(`From: a@sender.test\r\n\r\n${`${"x".repeat(998)}\r\n`.repeat(26_500)}`)
const DATE = "Date: Mon, 02 Mar 2026 10:00:00 +0000"

const written = (fields: Fields, body: ReadonlyArray<string>): Buffer =>
  Buffer.from([...fields, "", ...body, ""].join("\r\n"))

const headerOf = ({ friend, token }: Draft, ...more: Fields): Fields => [
  `From: Friend <${friend}>`,
  "To: undisclosed-recipients:;",
  `Subject: ${token}`,
  DATE,
  `Message-ID: <${token}@sender.test>`,
  ...more
]

const PLAIN = "Content-Type: text/plain; charset=utf-8"
const textOf = ({ random, token }: Draft): ReadonlyArray<string> =>
  Array.from({ length: 1 + random.integer(40) }, (_, line) => `Line ${line} of ${token}: grüße ${random.integer(1e9)}`)

const multipart = (type: string, boundary: string, parts: ReadonlyArray<readonly [Fields, ReadonlyArray<string>]>) => ({
  field: `Content-Type: ${type}; boundary="${boundary}"`,
  body: [...parts.flatMap(([fields, body]) => [`--${boundary}`, ...fields, "", ...body]), `--${boundary}--`]
})

const toOne = (address: string, end: MailEnd | undefined) => new Map([[address, end]])
const plusTagged = (address: string) => address.replace("@", "+news@")

/** A mail to one mailbox, with further fields. */
const ordinary = (draft: Draft, ...more: Fields): Part => ({
  mailFrom: draft.friend,
  recipients: toOne(draft.random.pick(draft.mailboxes), "message"),
  raw: written(headerOf(draft, PLAIN, ...more), textOf(draft)),
  hasMessageId: true
})

const returned = (draft: Draft, end: MailEnd, mailFrom: string, fields: Fields, body: ReadonlyArray<string>): Part => ({
  mailFrom,
  recipients: toOne(draft.random.pick(draft.returnPaths).path, end),
  raw: written(fields, body),
  hasMessageId: true
})

const daemonOf = (draft: Draft, ...more: Fields): Fields =>
  headerOf({ ...draft, friend: "mailer-daemon@sender.test" }, "Auto-Submitted: auto-replied", ...more)

const statusOf = ({ random, token, returnPaths }: Draft): ReadonlyArray<string> => [
  "Reporting-MTA: dns; mx.sender.test",
  "",
  `Final-Recipient: rfc822; ${random.pick(returnPaths).recipient}`,
  `Action: ${random.pick(["failed", "delayed", "delivered"])}`,
  `Status: ${random.pick(["5.1.1", "4.4.1", "2.0.0", "5.0.0"])}`,
  `Diagnostic-Code: smtp; 550 5.1.1 ${token}`
]

const reported = (draft: Draft, type: string, statusType = "message/delivery-status"): Part => {
  const { body, field } = multipart(type, `b-${draft.token}`, [
    [[PLAIN], ["Your mail could not be delivered."]],
    [[`Content-Type: ${statusType}`], statusOf(draft)],
    [["Content-Type: text/rfc822-headers"], ["Subject: a mail"]]
  ])
  return returned(draft, "report", "", daemonOf(draft, "MIME-Version: 1.0", field), body)
}

/** The kinds of mail that people and programs send, and how each must end. */
const KINDS: Readonly<Record<string, (draft: Draft) => Part>> = {
  ordinary: (draft) => ordinary(draft),
  html: (draft) => {
    const { body, field } = multipart("multipart/alternative", `b-${draft.token}`, [
      [[PLAIN], textOf(draft)],
      [["Content-Type: text/html; charset=utf-8"], ["<p>Hello</p>"]]
    ])
    return { ...ordinary(draft), raw: written(headerOf(draft, "MIME-Version: 1.0", field), body) }
  },
  "without a Message-ID": (draft) => ({
    ...ordinary(draft),
    raw: written(
      headerOf(draft, PLAIN).filter((field) => !field.startsWith("Message-ID")),
      textOf(draft)
    ),
    hasMessageId: false
  }),
  "to a plus-tag": (draft) => ({
    ...ordinary(draft),
    recipients: toOne(plusTagged(draft.random.pick(draft.mailboxes)), "message")
  }),
  "of a list": (draft) =>
    ordinary(draft, "List-Id: <list.sender.test>", "List-Unsubscribe: <https://sender.test/u>", "Precedence: list"),
  automatic: (draft) => ordinary(draft, "Auto-Submitted: auto-generated"),
  "to several mailboxes": (draft) => ({
    ...ordinary(draft),
    recipients: new Map(draft.mailboxes.map((address) => [address, "message"]))
  }),
  "to a mailbox and an unknown one": (draft) => ({
    ...ordinary(draft),
    recipients: new Map<string, MailEnd | undefined>([
      [draft.mailboxes[0]!, "message"],
      [`${draft.token}@${draft.domain}`, undefined]
    ])
  }),
  "to a mailbox and one whose policy keeps it out": (draft) => {
    const foe = { ...draft, friend: "news@foe.test" }
    return {
      ...ordinary(foe),
      recipients: new Map<string, MailEnd>([
        [draft.mailboxes[0]!, "message"],
        [draft.guarded, "withheld"]
      ])
    }
  },
  "from a refused sender": (draft) => ({
    ...ordinary({ ...draft, friend: "news@foe.test" }),
    recipients: toOne(draft.guarded, undefined)
  }),
  "to an unknown mailbox": (draft) => ({
    ...ordinary(draft),
    recipients: toOne(`${draft.token}@${draft.domain}`, undefined)
  }),
  "of two authors": (draft) => ({
    ...ordinary({ ...draft, friend: "a@sender.test>, Other <b@sender.test" }),
    mailFrom: draft.friend,
    recipients: toOne(draft.random.pick(draft.mailboxes), undefined)
  }),
  "with a header that is too large": (draft) => ({
    ...ordinary(draft, ...Array.from({ length: 350 }, () => LONG_FIELD)),
    recipients: toOne(draft.random.pick(draft.mailboxes), undefined)
  }),
  "that is too large": (draft) => ({
    ...ordinary(draft),
    recipients: toOne(draft.random.pick(draft.mailboxes), undefined),
    raw: OVERSIZED
  }),
  "a report": (draft) => reported(draft, "multipart/report; report-type=delivery-status"),
  "a report of OpenSMTPD": (draft) => reported(draft, "multipart/mixed"),
  "a report of addresses in Unicode": (draft) =>
    reported(draft, "multipart/report; report-type=delivery-status", "message/global-delivery-status"),
  "a complaint": (draft) => {
    const { body, field } = multipart("multipart/report; report-type=feedback-report", `b-${draft.token}`, [
      [[PLAIN], ["A complaint."]],
      [
        ["Content-Type: message/feedback-report"],
        ["Feedback-Type: abuse", "User-Agent: sender/1", "Version: 1", `Original-Rcpt-To: ${draft.token}@sender.test`]
      ],
      [["Content-Type: text/rfc822-headers"], ["Subject: a mail"]]
    ])
    return returned(draft, "report", "", daemonOf(draft, "MIME-Version: 1.0", field), body)
  },
  "a bounce in words": (draft) =>
    returned(draft, "message or report", "", daemonOf(draft, PLAIN), [
      "Hi. This is the mail program at sender.test.",
      "I'm afraid I wasn't able to deliver your message to the following addresses.",
      "",
      `<${draft.random.pick(draft.returnPaths).recipient}>:`,
      `550 5.1.1 ${draft.token}: no such user`
    ]),
  "a vacation reply": (draft) => returned(draft, "message", "", daemonOf(draft, PLAIN), ["I am away until Monday."]),
  "an answer to a return path": (draft) =>
    returned(draft, "message", draft.friend, headerOf(draft, PLAIN), ["I no longer work here."]),
  "to a return path that was never given": (draft) => ({
    ...ordinary(draft),
    mailFrom: "",
    recipients: toOne(
      `bounces+${Array.from({ length: 54 }, () => draft.random.integer(16).toString(16)).join("")}@${draft.domain}`,
      undefined
    )
  }),
  "to the postmaster": (draft) => ({
    ...ordinary(draft),
    recipients: toOne(`postmaster@${draft.domain}`, "for the operator")
  })
}

/** Draws mails, as many of each kind. The same seed draws the same mails. */
export const drawMails = (targets: MailTargets, count: number, random: Random): ReadonlyArray<RandomMail> => {
  const kinds = Object.entries(KINDS)
  return random.shuffle(
    Array.from({ length: count }, (_, index) => {
      const [kind, draw] = kinds[index % kinds.length]!
      const token = `mail-${index}-${random.integer(1e9)}`
      const friend = `friend-${random.integer(50)}@sender.test`
      return { kind, token, ...draw({ ...targets, token, random, friend }) }
    })
  )
}
