#!/usr/bin/env bash
# rrule 2.8.1 begins an all-day event that repeats at the time of parsing, not on the day that the event states.
#
# The start of an all-day event is a date: DTSTART;VALUE=DATE (RFC 5545, section 3.8.2.4), as calendar programs write it. The
# package reads no start from it, and takes the time of the machine in its place, without an error. Each parsing gives other
# days. Without the parameter, which the standard requires, it reads the date. ical.js 2.2.1 reads it.
#
# Output:
#   DTSTART;VALUE=DATE:20200601: now, and a year from now
#   DTSTART:20200601: 2020-06-01, 2021-06-01
#   DTSTART;VALUE=DATE:20200601, ical.js: 2020-06-01, 2021-06-01
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund rrule@2.8.1 ical.js@2.2.1
cat >run.mjs <<'PROGRAM'
import ICAL from "ical.js"
import assert from "node:assert/strict"
import rruleModule from "rrule"

const { rrulestr } = rruleModule
const show = (label, seen, expected) => {
  console.log(`${label}: ${seen}`)
  assert.equal(seen, expected)
}
const rule = "RRULE:FREQ=YEARLY;COUNT=2"
const outcome = (start) => {
  const days = rrulestr(`${start}\n${rule}`).all()
  if (Math.abs(days[0] - Date.now()) < 60_000) return "now, and a year from now"
  return days.map((day) => day.toISOString().slice(0, 10)).join(", ")
}
show("DTSTART;VALUE=DATE:20200601", outcome("DTSTART;VALUE=DATE:20200601"), "now, and a year from now")
show("DTSTART:20200601", outcome("DTSTART:20200601"), "2020-06-01, 2021-06-01")
const event = ICAL.parse(["BEGIN:VEVENT", "DTSTART;VALUE=DATE:20200601", rule, "END:VEVENT", ""].join("\r\n"))
const iterator = new ICAL.Event(new ICAL.Component(event)).iterator()
show("DTSTART;VALUE=DATE:20200601, ical.js", [iterator.next(), iterator.next()].join(", "), "2020-06-01, 2021-06-01")
PROGRAM
node run.mjs
