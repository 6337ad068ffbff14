import { describe, expect, it } from "vitest"
import { readMail } from "../../src/parser/ReadMail.ts"

const reportIn = async (lines: ReadonlyArray<string>, end = "\r\n") =>
  (await readMail(Buffer.from(lines.join(end)))).report

const DAEMON = ["From: Mail Delivery System <MAILER-DAEMON@mx.test>", "Subject: failure notice"]

const withPart = (type: string, fields: ReadonlyArray<string>, top = "multipart/report") => [
  ...DAEMON,
  `Content-Type: ${top}; boundary=r`,
  "",
  "--r",
  "Content-Type: text/plain",
  "",
  "Sorry.",
  "--r",
  `Content-Type: ${type}`,
  "",
  "Reporting-MTA: dns; mx.test",
  "",
  ...fields,
  "--r--",
  ""
]

const STATUS = "message/delivery-status"
const FAILED = { original: null, final: "bob@else.test", action: "failed", status: "5.1.1", diagnostic: null }
const one = (parts: Partial<typeof FAILED> | { readonly [key: string]: unknown } = {}) => ({
  _tag: "DeliveryStatus",
  recipients: [{ ...FAILED, ...parts }]
})

describe("the machine-readable part of a report", () => {
  const fields = ["Final-Recipient: rfc822; bob@else.test", "Action: failed", "Status: 5.1.1"]

  it.each([
    ["in multipart/mixed, as OpenSMTPD writes it", withPart(STATUS, fields, "multipart/mixed")],
    ["of internationalized mail", withPart("message/global-delivery-status", fields)],
    [
      "inside another part",
      [
        ...DAEMON,
        "Content-Type: multipart/mixed; boundary=o",
        "",
        "--o",
        ...withPart(STATUS, fields).slice(2),
        "--o--",
        ""
      ]
    ]
  ])("is found %s", async (_, lines) => {
    expect(await reportIn(lines)).toEqual(one())
  })

  it("is read with line feeds alone", async () => {
    expect(await reportIn(withPart(STATUS, fields), "\n")).toEqual(one())
  })

  it.each<[string, ReadonlyArray<string>, object]>([
    [
      "a comment after the action",
      ["Final-Recipient: rfc822; bob@else.test", "Action: Failed (no user)", "Status: 5.1.1"],
      {}
    ],
    ["no recipient", ["Action: failed", "Status: 5.1.1"], { final: null }],
    ...["Bob <bob@else.test>", '"bob@else.test"', "mailto:bob@else.test", "rfc822; bob@else.test"].map(
      (address): [string, ReadonlyArray<string>, object] => [
        `the address as ${address}`,
        [`Final-Recipient: rfc822; ${address}`, "Action: failed", "Status: 5.1.1"],
        {}
      ]
    ),
    ...["bounced", "Undeliverable", "permanent-failure", "rejected"].map(
      (action): [string, ReadonlyArray<string>, object] => [
        `the action ${action}`,
        ["Final-Recipient: rfc822; bob@else.test", `Action: ${action}`, "Status: 5.1.1"],
        {}
      ]
    ),
    [
      "an empty and an unknown address",
      ["Original-Recipient: rfc822;", "Final-Recipient: unknown", "Action: failed", "Status: 5.1.1"],
      { final: null }
    ],
    ["no action", ["Final-Recipient: rfc822; bob@else.test", "Status: 5.1.1"], {}],
    ["no status", ["Final-Recipient: rfc822; bob@else.test", "Action: failed"], { status: "" }],
    [
      "the code in the diagnostic alone, as Exim writes it",
      [
        "Final-Recipient: rfc822; bob@else.test",
        "Action: failed",
        "Status: 5.0.0",
        "Diagnostic-Code: smtp; 550-5.1.1 no such user"
      ],
      { diagnostic: "550-5.1.1 no such user" }
    ],
    [
      "a reply without an enhanced code",
      [
        "Final-Recipient: rfc822; bob@else.test",
        "Action: failed",
        "Status: 5.0.0",
        "Diagnostic-Code: smtp; 550 No such user"
      ],
      { status: "5.0.0", diagnostic: "550 No such user" }
    ],
    [
      "an address that looks like a code",
      [
        "Final-Recipient: rfc822; bob@else.test",
        "Action: failed",
        "Status: 5.0.0",
        "Diagnostic-Code: smtp; 550 5.1.1.9 is listed"
      ],
      { status: "5.0.0", diagnostic: "550 5.1.1.9 is listed" }
    ],
    [
      "an empty line between address and action",
      ["Final-Recipient: rfc822; bob@else.test", "", "Action: failed", "Status: 5.1.1"],
      {}
    ],
    [
      "a delay",
      ["Final-Recipient: rfc822; bob@else.test", "Action: delayed", "Status: 4.4.1"],
      { action: "delayed", status: "4.4.1" }
    ]
  ])("is read with %s", async (_, written, expected) => {
    expect(await reportIn(withPart(STATUS, written))).toEqual(one(expected))
  })

  it("is ignored without an action but with a temporary status, as challenges have it", async () => {
    const lines = withPart(STATUS, ["Final-Recipient: rfc822; bob@else.test", "Status: 4.7.0"])
    expect(await reportIn(["From: noreply@filter.test", "Subject: Re: hello", ...lines.slice(2)])).toBeUndefined()
  })

  it("is the refusal of a filter if a mail was deleted automatically (Sieve reject)", async () => {
    const type = "message/disposition-notification"
    const disposition = (value: string) => ["Final-Recipient: rfc822; bob@else.test", `Disposition: ${value}`]
    expect(await reportIn(withPart(type, disposition("automatic-action/MDN-sent-automatically; deleted")))).toEqual(
      one({ status: "5.7.1", diagnostic: "Sorry." })
    )
    expect(await reportIn(withPart(type, disposition("manual-action/MDN-sent-manually; displayed")))).toBeUndefined()
  })
})

describe("a report in plain text", () => {
  const QMAIL = [
    "Hi. This is the qmail-send program at else.test.",
    "I'm afraid I wasn't able to deliver your message to the following addresses.",
    "",
    "<bob@else.test>:",
    "Sorry, no mailbox here by that name. (#5.1.1)"
  ]

  it("is read from the forms of mail systems", async () => {
    const diagnostic = "Sorry, no mailbox here by that name. (#5.1.1)"
    expect(await reportIn([...DAEMON, "", ...QMAIL])).toEqual(one({ status: "", diagnostic }))
    expect(await reportIn(["From: someone@else.test", "", ...QMAIL])).toEqual(one({ status: "", diagnostic }))
    expect(
      await reportIn([
        ...DAEMON,
        "X-Failed-Recipients: bob@else.test",
        "",
        "A message that you sent could not be delivered to all of its recipients.",
        "  bob@else.test",
        "    550 5.1.1 unknown"
      ])
    ).toEqual(one({ status: "", diagnostic: "550 5.1.1 unknown" }))
  })

  it.each([
    ["Your message to bob@else.test couldn't be delivered."],
    ["Votre message à bob@else.test n'a pas pu être remis."],
    ["No se pudo entregar el mensaje a bob@else.test."],
    ["Impossibile recapitare il messaggio a bob@else.test."],
    ["Não foi possível entregar sua mensagem para bob@else.test."],
    ["Uw bericht aan bob@else.test kan niet worden bezorgd."],
    ["Nie można dostarczyć wiadomości do bob@else.test."],
    ["抱歉，您的邮件被退回来了。收件人 bob@else.test"],
    ["메일이 아래와 같은 이유로 전송되지 못했습니다. bob@else.test"]
  ])("names the recipient in %s", async (text) => {
    const report = await reportIn([
      "From: postmaster@mx.test",
      "Subject: Re: Offer",
      "Content-Type: text/plain; charset=utf-8",
      "",
      text,
      ""
    ])
    expect(report).toMatchObject({ recipients: [{ action: "failed", final: "bob@else.test", status: "" }] })
  })

  it.each([
    ["an address", "<a-450-b@else.test>:"],
    ["an address that begins with it", "<450-b@else.test>:"],
    ["the name of a host", "The host mx-550-a.else.test did not accept it."],
    ["a date", "On 2026-450 12:00 it was sent."]
  ])("has the reply of the other server, and not %s with a number like its code", async (_, line) => {
    const lines = ["I wasn't able to deliver your message.", "", line, "bob@else.test said: 550 5.1.1 no such user"]
    const report = await reportIn([...DAEMON, "", ...lines])
    expect(report).toMatchObject({ recipients: [{ diagnostic: "550 5.1.1 no such user" }] })
  })

  it.each(["550 No such user", "550-5.1.1 No such user", "<<< 550 No such user", "SMTP;550 No such user"])(
    "has the reply of the other server in %s",
    async (line) => {
      const report = await reportIn([...DAEMON, "", "I wasn't able to deliver your message.", "", line])
      expect(report).toMatchObject({ recipients: [{ diagnostic: line.slice(line.indexOf("550")) }] })
    }
  )

  it("is a delay if the mail is still being retried", async () => {
    const text = ["Your message has not yet been delivered to:", "bob@else.test", "It will be retried for 2 days."]
    expect(await reportIn([...DAEMON, "", ...text])).toMatchObject({ recipients: [{ action: "delayed", status: "" }] })
  })

  it.each([
    [
      "a vacation reply",
      ["From: bob@else.test", "Subject: Automatic reply: x", "Auto-Submitted: auto-replied", "", "I am away."]
    ],
    [
      "a person who writes about a failed delivery",
      ["From: bob@else.test", "Subject: Re: x", "", "My other address: your mail could not be delivered. Use this one."]
    ],
    [
      "a mail system that does not report",
      ["From: postmaster@else.test", "Subject: Welcome", "", "The mail service was updated."]
    ]
  ])("is not %s", async (_, lines) => {
    expect(await reportIn(lines)).toBeUndefined()
  })
})
