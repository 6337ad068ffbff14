#!/usr/bin/env bash
# ical.js 2.2.1 repeats "each 20th Monday of the year" every week, and the 29th of February on the 1st of March.
#
# RFC 5545, section 3.8.5.3, has the rule of the 20th Monday as an example, and one of Mondays in week 20. The package returns
# each Monday from the 20th on, and leaves the first one of week 20 out. Dates that a year does not have must be ignored
# (section 3.3.10). rrule 2.8.1 returns what the standard has.
#
# Output:
#   FREQ=YEARLY;BYDAY=20MO
#     ical.js 2027-05-17 2027-05-24 2027-05-31 2027-06-07
#     rrule   2027-05-17 2028-05-15 2029-05-14 2030-05-20
#   FREQ=YEARLY;BYWEEKNO=20;BYDAY=MO
#     ical.js 2027-05-24 2027-05-31 2027-06-07 2027-06-14
#     rrule   2027-05-17 2028-05-15 2029-05-14 2030-05-13
#   FREQ=YEARLY
#     ical.js 2028-02-29 2029-03-01 2030-03-01 2031-03-01
#     rrule   2028-02-29 2032-02-29 2036-02-29 2040-02-29
#   FREQ=MONTHLY;BYMONTHDAY=31
#     ical.js 2027-05-31 2027-07-31 2027-08-31 2027-10-31
#     rrule   2027-05-31 2027-07-31 2027-08-31 2027-10-31
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund ical.js@2.2.1 rrule@2.8.1
cat >run.mjs <<'PROGRAM'
import ICAL from "ical.js"
import assert from "node:assert/strict"
import rruleModule from "rrule"

const { rrulestr } = rruleModule
const show = (rule, start, ...expected) => {
  const iterator = ICAL.Recur.fromString(rule).iterator(ICAL.Time.fromDateString(start))
  const days = rrulestr(`DTSTART:${start.replaceAll("-", "")}T000000Z\nRRULE:${rule}`).all((_, index) => index < 4)
  const seen = [
    Array.from({ length: 4 }, () => iterator.next().toString()).join(" "),
    days.map((day) => day.toISOString().slice(0, 10)).join(" ")
  ]
  console.log(`${rule}\n  ical.js ${seen[0]}\n  rrule   ${seen[1]}`)
  assert.deepEqual(seen, expected)
}
show(
  "FREQ=YEARLY;BYDAY=20MO",
  "2027-05-17",
  "2027-05-17 2027-05-24 2027-05-31 2027-06-07",
  "2027-05-17 2028-05-15 2029-05-14 2030-05-20"
)
show(
  "FREQ=YEARLY;BYWEEKNO=20;BYDAY=MO",
  "2027-05-17",
  "2027-05-24 2027-05-31 2027-06-07 2027-06-14",
  "2027-05-17 2028-05-15 2029-05-14 2030-05-13"
)
show("FREQ=YEARLY", "2028-02-29", "2028-02-29 2029-03-01 2030-03-01 2031-03-01", "2028-02-29 2032-02-29 2036-02-29 2040-02-29")
show("FREQ=MONTHLY;BYMONTHDAY=31", "2027-05-31", "2027-05-31 2027-07-31 2027-08-31 2027-10-31", "2027-05-31 2027-07-31 2027-08-31 2027-10-31")
PROGRAM
node run.mjs
