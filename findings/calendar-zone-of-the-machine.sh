#!/usr/bin/env bash
# ical-generator 10.2.0 writes an instant with the clock of the machine and the name of another time zone.
#
# Its README has `new Date()` with `timezone: "Europe/London"` as an example, and says that a time is taken to match the zone. A
# Date and a text with Z are instants, and match every zone. The package takes their local time on the machine, so the same
# invitation is right on a machine in that zone and hours off elsewhere. Without a zone it writes UTC, and of a zoned time of luxon
# 3.7.2 the time of the zone. It also writes no VTIMEZONE, which RFC 5545, section 3.2.19, requires for each name, unless its caller
# passes a function for it.
#
# Output:
#   9:00 in New York as a Date, machine in America/New_York: DTSTART;TZID=America/New_York:20270601T090000
#   9:00 in New York as a Date, machine in UTC: DTSTART;TZID=America/New_York:20270601T130000
#   9:00 in New York as a Date, machine in Europe/Berlin: DTSTART;TZID=America/New_York:20270601T150000
#   9:00 in New York as a text with Z, machine in Europe/Berlin: DTSTART;TZID=America/New_York:20270601T150000
#   9:00 in New York of luxon, machine in Europe/Berlin: DTSTART;TZID=America/New_York:20270601T090000
#   9:00 in New York without a zone, machine in Europe/Berlin: DTSTART:20270601T130000Z
#   VTIMEZONE: none
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund ical-generator@10.2.0 luxon@3.7.2
cat >run.mjs <<'PROGRAM'
import generate from "ical-generator"
import { DateTime } from "luxon"
import assert from "node:assert/strict"

const instant = "2027-06-01T13:00:00Z"
const timezone = "America/New_York"
const write = (event, zone) => {
  process.env.TZ = zone
  const calendar = generate()
  calendar.createEvent({ summary: "Call", ...event })
  return String(calendar)
}
const show = (label, event, zone, expected) => {
  const line = write(event, zone)
    .split("\r\n")
    .find((each) => each.startsWith("DTSTART"))
  console.log(`9:00 in New York ${label}, machine in ${zone}: ${line}`)
  assert.equal(line, expected)
}
const named = (time) => `DTSTART;TZID=${timezone}:20270601T${time}`
const asDate = { start: new Date(instant), timezone }
show("as a Date", asDate, timezone, named("090000"))
show("as a Date", asDate, "UTC", named("130000"))
show("as a Date", asDate, "Europe/Berlin", named("150000"))
show("as a text with Z", { start: instant, timezone }, "Europe/Berlin", named("150000"))
const zoned = DateTime.fromISO(instant, { zone: timezone })
show("of luxon", { start: zoned, timezone }, "Europe/Berlin", named("090000"))
show("without a zone", { start: new Date(instant) }, "Europe/Berlin", "DTSTART:20270601T130000Z")
const definition = write(asDate, "UTC").includes("VTIMEZONE") ? "written" : "none"
console.log(`VTIMEZONE: ${definition}`)
assert.equal(definition, "none")
PROGRAM
node run.mjs
