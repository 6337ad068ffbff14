import type { Envelope } from "./Outbox.ts"
import { deliveryReport } from "./OutsideMail.ts"

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

const REPORTER = "feedback@relay.sandbox.test"
const BOUNDARY = "=_sandbox_report"

/** Returns a feedback report (RFC 5965). */
const complaint = (returnPath: string, recipient: string): Buffer =>
  Buffer.from(
    [
      `From: ${REPORTER}`,
      `To: ${returnPath}`,
      "Subject: Complaint",
      `Date: ${new Date().toUTCString().replace("GMT", "+0000")}`,
      "MIME-Version: 1.0",
      `Content-Type: multipart/report; report-type=feedback-report; boundary="${BOUNDARY}"`,
      "",
      `--${BOUNDARY}`,
      "Content-Type: text/plain; charset=utf-8",
      "",
      `${recipient} marked the mail as spam.`,
      "",
      `--${BOUNDARY}`,
      "Content-Type: message/feedback-report",
      "",
      "Feedback-Type: abuse",
      "User-Agent: AgentOS-sandbox/1",
      "Version: 1",
      `Original-Rcpt-To: ${recipient}`,
      "",
      `--${BOUNDARY}--`,
      ""
    ].join("\r\n")
  )

/** Returns a report about one recipient of a mail, to its return path. */
export const reportOn = (
  returnPath: string,
  recipient: string,
  kind: ReportKind
): { readonly envelope: Envelope; readonly raw: Buffer } => {
  const rcptTo = [returnPath]
  if (kind === "complained") {
    return { envelope: { mailFrom: REPORTER, rcptTo }, raw: complaint(returnPath, recipient) }
  }
  const report = { recipient, status: kind === "delivered" ? "2.0.0" : "5.1.1" }
  return { envelope: { mailFrom: "", rcptTo }, raw: deliveryReport(report, { mailFrom: returnPath, messageId: null }) }
}
