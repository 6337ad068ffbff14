#!/usr/bin/env bash
# baunsu 0.2.3 reports a bounce for a mail that was delivered, and for each mail whose text has lines such as "Action: ...".
#
# It counts fields of delivery reports (RFC 3464), whatever their values are, in all lines of the mail. A report of success, as a
# sender asks for with NOTIFY=SUCCESS, is a soft bounce with status.class.code 2. A mail in which a person quotes such lines is one
# too. A program that flags addresses by `bounced` or isSoft() flags those that work. Read `action` and the type of the mail too.
#
# Output:
#   failed: bounced true, hard true, soft false, action failed
#   delayed: bounced true, hard false, soft true, action delayed
#   delivered: bounced true, hard false, soft true, action delivered
#   relayed: bounced true, hard false, soft true, action relayed
#   question of a person: bounced true, hard true, soft false, action failed
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund baunsu@0.2.3
cat >run.mjs <<'PROGRAM'
import assert from "node:assert/strict"
import Baunsu from "baunsu"

const header = ["Received: from mx.b.example by mx.a.example; Tue, 1 Dec 2026 15:00:00 +0000", "From: bob@b.example"]
const report = (action, status) => [
  ...[...header, "Content-Type: multipart/report; report-type=delivery-status; boundary=b", "", "--b", "", "Report.", "--b"],
  ...["Content-Type: message/delivery-status", "", "Reporting-MTA: dns; mx.b.example", ""],
  ...["Final-Recipient: rfc822; bob@b.example", `Action: ${action}`, `Status: ${status}`, "", "--b--"]
]
const show = (label, lines, hard, soft, action) => {
  const result = new Baunsu().detectSync(lines.join("\r\n"))
  console.log(`${label}: bounced ${result.bounced}, hard ${result.isHard()}, soft ${result.isSoft()}, action ${result.action}`)
  assert.deepEqual([result.bounced, result.isHard(), result.isSoft(), result.action], [true, hard, soft, action])
}
show("failed", report("failed", "5.1.1"), true, false, "failed")
show("delayed", report("delayed", "4.4.1"), false, true, "delayed")
show("delivered", report("delivered", "2.0.0"), false, true, "delivered")
show("relayed", report("relayed", "2.0.0"), false, true, "relayed")
const question = ["", "What does this mean?", "Action: failed", "Status: 5.1.1"]
show("question of a person", [...header, ...question], true, false, "failed")
PROGRAM
node run.mjs
