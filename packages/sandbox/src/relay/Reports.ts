import { randomUUID } from "node:crypto"
import type { Envelope } from "./Outbox.ts"

/** Returns a report as mail (multipart/report, RFC 6522), from its headers and its parts. */
const reportMail = (
  type: "delivery-status" | "feedback-report",
  boundary: string,
  headers: ReadonlyArray<string>,
  parts: ReadonlyArray<readonly [contentType: string, lines: ReadonlyArray<string>]>
): Buffer =>
  Buffer.from(
    [
      ...headers,
      "MIME-Version: 1.0",
      `Content-Type: multipart/report; report-type=${type}; boundary="${boundary}"`,
      "",
      ...parts.flatMap(([contentType, lines]) => [`--${boundary}`, `Content-Type: ${contentType}`, "", ...lines, ""]),
      `--${boundary}--`,
      ""
    ].join("\r\n")
  )

const dateHeader = (): string => `Date: ${new Date().toUTCString().replace("GMT", "+0000")}`

const ACTIONS: Readonly<Record<string, string>> = { "5": "failed", "4": "delayed", "2": "delivered" }
const REPORTER = "mx.outside.example"

/** Returns a delivery status notification (RFC 3464) about a mail. */
export const deliveryReport = (
  { recipient, status }: { readonly recipient: string; readonly status: string },
  { mailFrom, messageId }: { readonly mailFrom: string; readonly messageId: string | null }
): Buffer => {
  const action = ACTIONS[status.slice(0, 1)]!
  const headers = [
    `From: Mail Delivery System <MAILER-DAEMON@${REPORTER}>`,
    `To: <${mailFrom}>`,
    `Subject: Delivery status: ${action}`,
    `Message-ID: <${randomUUID()}@${REPORTER}>`,
    dateHeader(),
    "Auto-Submitted: auto-replied"
  ]
  return reportMail("delivery-status", randomUUID(), headers, [
    [
      "text/plain; charset=utf-8",
      [`The delivery of your message to <${recipient}> is reported as ${action} (${status}).`]
    ],
    [
      "message/delivery-status",
      [
        `Reporting-MTA: dns; ${REPORTER}`,
        "",
        `Final-Recipient: rfc822; ${recipient}`,
        `Action: ${action}`,
        `Status: ${status}`
      ]
    ],
    ["text/rfc822-headers", [...(messageId === null ? [] : [`Message-ID: ${messageId}`]), `To: <${recipient}>`]]
  ])
}

const FEEDBACK_SENDER = "feedback@relay.sandbox.test"

/** Returns a feedback report (RFC 5965). */
const complaint = (returnPath: string, recipient: string): Buffer => {
  const headers = [`From: ${FEEDBACK_SENDER}`, `To: ${returnPath}`, "Subject: Complaint", dateHeader()]
  return reportMail("feedback-report", "=_sandbox_report", headers, [
    ["text/plain; charset=utf-8", [`${recipient} marked the mail as spam.`]],
    [
      "message/feedback-report",
      ["Feedback-Type: abuse", "User-Agent: AgentOS-sandbox/1", "Version: 1", `Original-Rcpt-To: ${recipient}`]
    ]
  ])
}

/** A later report of a recipient's server about a mail that the relay accepted. */
export type ReportKind = "delivered" | "bounced" | "complained"

const REPORTING_DOMAINS: ReadonlyMap<string, ReportKind> = new Map([
  ["delivered.test", "delivered"],
  ["bounced.test", "bounced"],
  ["complained.test", "complained"]
])

/** Returns the report of a recipient's server; undefined if it sends none. */
export const reportKindOf = (recipient: string): ReportKind | undefined =>
  REPORTING_DOMAINS.get(recipient.slice(recipient.lastIndexOf("@") + 1).toLowerCase())

/** Returns a report about one recipient of a mail, to its return path. */
export const reportOn = (
  returnPath: string,
  recipient: string,
  kind: ReportKind
): { readonly envelope: Envelope; readonly raw: Buffer } => {
  const rcptTo = [returnPath]
  if (kind === "complained") {
    return { envelope: { mailFrom: FEEDBACK_SENDER, rcptTo }, raw: complaint(returnPath, recipient) }
  }
  const report = { recipient, status: kind === "delivered" ? "2.0.0" : "5.1.1" }
  return { envelope: { mailFrom: "", rcptTo }, raw: deliveryReport(report, { mailFrom: returnPath, messageId: null }) }
}
