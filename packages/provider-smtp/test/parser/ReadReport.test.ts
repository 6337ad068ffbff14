import type { DeliveryReport } from "@agentos/core"
import { describe, expect, it } from "vitest"
import { readMail } from "../../src/parser/ReadMail.ts"

type Claims = Extract<DeliveryReport, { _tag: "DeliveryStatus" }>["recipients"]

const reportIn = async (...lines: ReadonlyArray<string>) => (await readMail(Buffer.from(lines.join("\r\n")))).report

const claimsOf = (report: DeliveryReport | undefined): Claims =>
  report?._tag === "DeliveryStatus" ? report.recipients : []

const HEADER = ["From: MAILER-DAEMON@mx.else.test", "Subject: Undelivered Mail Returned to Sender"]
const TEXT = ["Content-Type: text/plain", "", "Sorry.", ""]

/** The claims of a report with these fields of a recipient. */
const claims = async (
  fields: ReadonlyArray<string>,
  { top = "multipart/report; report-type=delivery-status", type = "message/delivery-status" } = {}
): Promise<Claims> => {
  const part = [`Content-Type: ${type}`, "", "Reporting-MTA: dns; mx.else.test", "", ...fields, ""]
  return claimsOf(
    await reportIn(...HEADER, `Content-Type: ${top}; boundary=b`, "", "--b", ...TEXT, "--b", ...part, "--b--", "")
  )
}

const FINAL = "Final-Recipient: rfc822; bob@else.test"

describe("the machine-readable part of a report", () => {
  it.each([
    ["of a multipart/report", "multipart/report; report-type=delivery-status", "message/delivery-status"],
    ["of a multipart/mixed, as OpenSMTPD writes it", "multipart/mixed", "message/delivery-status"],
    ["for addresses in UTF-8 (RFC 6533)", "multipart/report", "message/global-delivery-status"],
    ["in upper case", "Multipart/REPORT", "Message/Delivery-Status"]
  ])("is found as a part %s", async (_, top, type) => {
    expect(await claims([FINAL, "Action: failed", "Status: 5.1.1"], { top, type })).toEqual([
      { original: null, final: "bob@else.test", action: "failed", status: "5.1.1", diagnostic: null }
    ])
  })

  it("is found in a report within another multipart, but not in a message that is attached", async () => {
    const inner = ["--i", ...TEXT, "--i", "Content-Type: message/delivery-status", "", FINAL, "Action: failed", "--i--"]
    const nested = (type: string) =>
      reportIn(
        "From: bob@else.test",
        "Subject: list",
        "Content-Type: multipart/mixed; boundary=o",
        "",
        "--o",
        `Content-Type: ${type}`,
        "",
        ...(type === "message/rfc822" ? ["Content-Type: multipart/report; boundary=i", ""] : []),
        ...inner,
        "--o--",
        ""
      )
    expect(claimsOf(await nested("multipart/report; boundary=i"))).toHaveLength(1)
    expect(await nested("message/rfc822")).toBe(undefined)
  })

  it.each([
    ["Action: failed (unknown user)", "failed"],
    ["ACTION: FAILED", "failed"],
    ["Action: failure", "failed"],
    ["Action: delayed", "delayed"],
    ["Status: 5.2.2", "failed"],
    ["Status: 2.0.0", "delivered"]
  ])("has an action in the form %s", async (field, action) => {
    expect(await claims([FINAL, field])).toMatchObject([{ action }])
  })

  it("without action and status leaves the words of the mail system", async () => {
    expect(await claims([FINAL])).toMatchObject([{ final: null, action: "failed", diagnostic: "Sorry." }])
  })

  it.each([
    ["Status: 5.0.0", "smtp; 550 5.1.1 <bob@else.test>: Recipient address rejected", "5.1.1"],
    ["Status: 5.0.0", "smtp;550-5.1.1 The email account does not exist", "5.1.1"],
    ["Status: 5.0.0", "smtp; 550 No such user here", "5.0.0"],
    ["Status: 5.0.0", "smtp; 550 Mailbox unavailable, blocked by policy", "5.0.0"],
    ["Status: 5.0.0", "smtp; 552 message too large", "5.0.0"],
    ["Status: 5.0.0", "smtp; 550 relay from 10.5.1.1 denied", "5.0.0"],
    ["Status: 5.2.2", "smtp; 550 5.1.1 unknown", "5.2.2"],
    ["Status: 5.1.1 (unknown user)", "smtp; 550 no", "5.1.1"],
    ["Status:", "smtp; 550 5.7.1 no", "5.7.1"],
    ["Status: 4.0.0", "smtp; 550 5.1.1 no", "4.0.0"]
  ])("with %s and the reply %s has the most specific status", async (field, diagnostic, status) => {
    expect(await claims([FINAL, "Action: failed", field, `Diagnostic-Code: ${diagnostic}`])).toMatchObject([{ status }])
  })

  it.each([
    ["rfc822;bob+2Btag@else.test", "bob+2Btag@else.test"],
    ["rfc822; <bob@else.test>", "bob@else.test"],
    ["bob@else.test", "bob@else.test"],
    ["rfc822;bob+20@else.test", "bob+20@else.test"],
    ["utf-8; jürgen@else.test", "jürgen@else.test"],
    ["rfc822;", null],
    ["rfc822; unknown", null],
    ["unknown", null]
  ])("reads the recipient %s", async (written, original) => {
    const fields = [`Original-Recipient: ${written}`, FINAL, "Action: failed"]
    expect(await claims(fields)).toMatchObject([{ original, final: "bob@else.test" }])
  })
})

describe("a report in text alone", () => {
  const claimIn = async (header: ReadonlyArray<string>, ...text: ReadonlyArray<string>) =>
    claimsOf(await reportIn(...header, "", ...text, ""))[0]
  const from = (author: string, subject: string) => [`From: ${author}`, `Subject: ${subject}`]

  it("of qmail is a failure with its code", async () => {
    const text = [
      "Hi. This is the qmail-send program at else.test.",
      "I'm afraid I wasn't able to deliver your message to the following addresses.",
      "This is a permanent error; I've given up. Sorry it didn't work out.",
      "",
      "<bob@else.test>:",
      "Sorry, no mailbox here by that name. (#5.1.1)",
      "",
      "--- Below this line is a copy of the message.",
      "",
      "Subject: it was delayed, 5.7.1"
    ]
    expect(await claimIn(from("MAILER-DAEMON@else.test", "failure notice"), ...text)).toMatchObject({
      action: "failed",
      status: "5.1.1"
    })
  })

  it("of Exim is a failure by X-Failed-Recipients", async () => {
    const header = [
      ...from("Mail Delivery System <Mailer-Daemon@else.test>", "Mail delivery failed: returning message to sender"),
      "X-Failed-Recipients: bob@else.test"
    ]
    const text = ["A message that you sent could not be delivered.", "", "  bob@else.test", "    Unrouteable address"]
    expect(await claimIn(header, ...text)).toMatchObject({ action: "failed", final: "bob@else.test" })
  })

  it.each([
    ["MAILER-DAEMON@else.test (Mail Delivery System)", "Undelivered Mail", "<bob@else.test>: 550 5.1.1 unknown user"],
    [
      "System Administrator <postmaster@else.test>",
      "Undeliverable: Offer",
      "Your message did not reach bob. 550 5.1.1"
    ],
    ["filter@else.test", "Mail could not be delivered", "Unable to deliver message to bob. 550 5.1.1 unknown user."]
  ])("of a mail system is a failure: %s", async (author, subject, text) => {
    expect(await claimIn(from(author, subject), text)).toMatchObject({ action: "failed", status: "5.1.1" })
  })

  it.each([
    ["Mail Delivery System <Mailer-Daemon@else.test>", "Warning: message delayed 24 hours", "No action is required."],
    ["postmaster@else.test", "Delivery Status Notification (Delay)", "Delivery attempts will continue to be made."],
    ["MAILER-DAEMON@else.test", "Undelivered", "450 4.2.0 greylisted. The message will be retried for 5 days."]
  ])("of a delay is no failure: %s, %s", async (author, subject, text) => {
    expect(await claimIn(from(author, subject), text)).toMatchObject({ action: "delayed" })
  })

  it.each([
    ["Bob <bob@else.test>", "Automatic reply: Offer", "I am away until 12 October. Mail is not delivered to others."],
    ["Bob <bob@else.test>", "Re: Offer", "The parcel could not be delivered. Can you send it again?"],
    ["postmaster@else.test", "Out of office", "I am unknown here, ask the others."],
    ["Bob <bob@else.test>", "Re: Undelivered mail", "Did you see this?\r\n> could not be delivered"],
    ["postmaster@else.test", "Welcome", "Hello, write to us."]
  ])("is not an answer of a person or its program: %s, %s", async (author, subject, text) => {
    expect(await claimIn(from(author, subject), text)).toBe(undefined)
  })
})
