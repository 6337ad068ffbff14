#!/usr/bin/env bash
# dmarc-report-parser 0.1.5 throws for a whole DMARC report if one record has a reason, and finds no report in plain XML in a mail.
#
# A receiver names a reason where it does not apply the policy, for example for forwarded mail and mailing lists (RFC 7489,
# Appendix C). One such record hides all others. A report that is attached as .xml, or that begins without "<?xml", is not found,
# though the package's description names .xml. Remove the elements reason before parsing, and send .xml to parseDmarcReportsFromXml.
#
# Output:
#   XML, no reason: 2 messages
#   XML, reason mailing_list: throws at record.row.policy_evaluated.reason.type
#   mail with .xml.gz: 2 messages
#   mail with .xml: throws No DMARC reports found in email
#   mail with .xml.gz without "<?xml": throws No DMARC reports found in email
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund dmarc-report-parser@0.1.5
cat >run.mjs <<'PROGRAM'
import reports from "dmarc-report-parser"
import assert from "node:assert/strict"
import { gzipSync } from "node:zlib"

const declaration = '<?xml version="1.0" encoding="UTF-8"?>'
const report = (reason = "") => `<feedback><version>1.0</version>
<report_metadata><org_name>B</org_name><email>b@b.example</email><report_id>1</report_id>
<date_range><begin>1796083200</begin><end>1796169599</end></date_range></report_metadata>
<policy_published><domain>a.example</domain><adkim>r</adkim><aspf>r</aspf><p>reject</p><sp>reject</sp><pct>100</pct>
</policy_published>
<record><row><source_ip>192.0.2.1</source_ip><count>2</count>
<policy_evaluated><disposition>none</disposition><dkim>fail</dkim><spf>fail</spf>${reason}</policy_evaluated></row>
<identifiers><header_from>a.example</header_from></identifiers>
<auth_results><spf><domain>lists.b.example</domain><result>pass</result></spf></auth_results></record></feedback>`
const mail = (name, content) =>
  `Content-Type: application/octet-stream\r\nContent-Disposition: attachment; filename="${name}"\r\n` +
  `Content-Transfer-Encoding: base64\r\n\r\n${content.toString("base64").replace(/.{76}/g, "$&\r\n")}\r\n`

const show = async (label, read, expected) => {
  const seen = await read().then(
    ({ reports: [{ record }] }) => `${record[0].row.count} messages`,
    (error) => `throws ${error.issues ? `at ${error.issues[0].path.filter(isNaN).join(".")}` : error.message}`
  )
  console.log(`${label}: ${seen}`)
  assert.equal(seen, expected)
}
const { parseDmarcReportFromEmail: fromMail, parseDmarcReportsFromXml: fromXml } = reports
const reason = "<reason><type>mailing_list</type><comment>list</comment></reason>"
const at = "throws at record.row.policy_evaluated.reason.type"
const none = "throws No DMARC reports found in email"
await show("XML, no reason", async () => fromXml([declaration + report()]), "2 messages")
await show("XML, reason mailing_list", async () => fromXml([declaration + report(reason)]), at)
await show("mail with .xml.gz", () => fromMail(mail("r.xml.gz", gzipSync(declaration + report()))), "2 messages")
await show("mail with .xml", () => fromMail(mail("r.xml", Buffer.from(declaration + report()))), none)
await show('mail with .xml.gz without "<?xml"', () => fromMail(mail("r.xml.gz", gzipSync(report()))), none)
PROGRAM
node run.mjs
