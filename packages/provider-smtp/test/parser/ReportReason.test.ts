import { describe, expect, it } from "vitest"
import { readMail } from "../../src/parser/ReadMail.ts"

/** A report whose parts are a text and delivery fields. */
const report = (type: string, text: ReadonlyArray<string>, fields: ReadonlyArray<string>) => {
  const lines = [
    "From: Mail Delivery System <MAILER-DAEMON@mx.example.com>",
    "To: bounces+1@agents.test",
    "Subject: Delivery failure",
    `Content-Type: ${type}; boundary="b"`,
    "",
    "--b",
    "Content-Type: text/plain; charset=utf-8",
    "",
    ...text,
    "",
    "--b",
    "Content-Type: message/delivery-status",
    "",
    ...fields,
    "",
    "--b--",
    ""
  ]
  return Buffer.from(lines.join("\r\n"))
}

const recipientOf = async (raw: Uint8Array) => {
  const { report: found } = await readMail(raw)
  return found?._tag === "DeliveryStatus" ? found.recipients[0] : undefined
}

describe("the reason in a report", () => {
  it("has one space where Postfix folds a diagnostic", async () => {
    const fields = [
      "Reporting-MTA: dns; mx.example.com",
      "",
      "Final-Recipient: rfc822; bob@example.com",
      "Action: failed",
      "Status: 5.1.1",
      "Diagnostic-Code: smtp; 550 5.1.1 The account does",
      "    not exist."
    ]
    expect(
      await recipientOf(report("multipart/report; report-type=delivery-status", ["Failed."], fields))
    ).toMatchObject({
      diagnostic: "550 5.1.1 The account does not exist."
    })
  })

  it("comes from the text, with its status, where OpenSMTPD writes neither", async () => {
    const text = [
      "An error has occurred while attempting to deliver a message for",
      "the following list of recipients:",
      "",
      "bob+a@example.com: 550 5.1.1 No such user"
    ]
    const fields = [
      "Reporting-MTA: dns; mx.example.com",
      "",
      "Final-Recipient: rfc822; bob+a@example.com",
      "Action: failed",
      "Status: 5.0.0"
    ]
    expect(await recipientOf(report("multipart/mixed", text, fields))).toMatchObject({
      final: "bob+a@example.com",
      status: "5.1.1",
      diagnostic: "550 5.1.1 No such user"
    })
  })

  it("comes from the text of Dovecot, whose fields are in one group", async () => {
    const text = [
      "Your message to <bob@example.com> was automatically rejected:",
      "Quota exceeded (mailbox for user is full)"
    ]
    const fields = [
      "Reporting-MTA: dns; mx.example.com",
      "Final-Recipient: rfc822; bob@example.com",
      "Action: failed",
      "Status: 5.2.2"
    ]
    expect(await recipientOf(report("multipart/report; report-type=delivery-status", text, fields))).toMatchObject({
      final: "bob@example.com",
      status: "5.2.2",
      diagnostic: "Quota exceeded (mailbox for user is full)"
    })
  })

  it("stays unknown where the text does not name the recipient", async () => {
    const fields = [
      "Reporting-MTA: dns; mx.example.com",
      "",
      "Final-Recipient: rfc822; bob@example.com",
      "Action: failed",
      "Status: 5.0.0"
    ]
    expect(
      await recipientOf(report("multipart/report", ["carol@example.com: 550 5.1.1 No such user"], fields))
    ).toMatchObject({ status: "5.0.0", diagnostic: null })
  })
})
