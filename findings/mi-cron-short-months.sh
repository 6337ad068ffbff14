#!/usr/bin/env bash
# @cheap-glitch/mi-cron 1.0.1 runs a job of the 31st on the 1st, after each month of 30 days, and one of February 29 on March 1.
#
# A schedule of cron matches dates that exist. The package moves the others to the next month, so a monthly job runs twice as
# often in some months, and a yearly one in each year. It also runs a job only if both the day of the month and the day of the
# week match, where cron runs it if one of them does (POSIX, crontab). cron-parser 5.10.6 follows cron in both.
#
# Output:
#   0 0 31 * *
#     mi-cron     2027-03-31 2027-05-01 2027-05-31 2027-07-01
#     cron-parser 2027-03-31 2027-05-31 2027-07-31 2027-08-31
#   0 0 29 2 *
#     mi-cron     2028-02-29 2029-03-01 2030-03-01 2031-03-01
#     cron-parser 2028-02-29 2032-02-29 2036-02-29 2040-02-29
#   0 0 13 * 5
#     mi-cron     2027-08-13 2028-10-13 2029-04-13 2029-07-13
#     cron-parser 2027-03-19 2027-03-26 2027-04-02 2027-04-09
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund @cheap-glitch/mi-cron@1.0.1 cron-parser@5.10.6
cat >run.mjs <<'PROGRAM'
import * as micron from "@cheap-glitch/mi-cron"
import cronParser from "cron-parser"
import assert from "node:assert/strict"

process.env.TZ = "UTC"
const { parseCron } = micron.default ?? micron
const start = new Date("2027-03-13T00:30:00Z")
const show = (pattern, ...expected) => {
  const other = cronParser.CronExpressionParser.parse(pattern, { currentDate: start, tz: "UTC" })
  const schedule = parseCron(pattern)
  const days = [[], []]
  for (let at = 0, from = start; at < 4; at += 1) {
    from = parseCron.nextDate(schedule, from)
    days[0].push(from.toISOString().slice(0, 10))
    days[1].push(other.next().toDate().toISOString().slice(0, 10))
  }
  const seen = days.map((each) => each.join(" "))
  console.log(`${pattern}\n  mi-cron     ${seen[0]}\n  cron-parser ${seen[1]}`)
  assert.deepEqual(seen, expected)
}
show("0 0 31 * *", "2027-03-31 2027-05-01 2027-05-31 2027-07-01", "2027-03-31 2027-05-31 2027-07-31 2027-08-31")
show("0 0 29 2 *", "2028-02-29 2029-03-01 2030-03-01 2031-03-01", "2028-02-29 2032-02-29 2036-02-29 2040-02-29")
show("0 0 13 * 5", "2027-08-13 2028-10-13 2029-04-13 2029-07-13", "2027-03-19 2027-03-26 2027-04-02 2027-04-09")
PROGRAM
node run.mjs
