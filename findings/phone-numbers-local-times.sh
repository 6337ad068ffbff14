#!/usr/bin/env bash
# phone-number-to-timezone 1.0.8 and phone-number-timezone 1.0.0 return wrong local times for numbers of several countries.
#
# The first has one zone for a country, which for New Zealand is that of its Chatham Islands, and begins the summer time of Europe
# on the fourth Sunday of March, not on the last. The second names a zone of the United States for numbers of Canada, and Adak in
# the Aleutian Islands for toll-free ones. A service that may call only in the daytime calls an hour off, or not at all. Intl has
# the rules; a toll-free number has no zone.
#
# Output:
#   2026-03-25T12:00:00Z +44 20 7946 0123: phone-number-to-timezone 13:00, Europe/London 12:00
#   2026-12-01T12:00:00Z +64 3 234 5678: phone-number-to-timezone 01:45, Pacific/Auckland 01:00
#   +1 604 555 0123: phone-number-timezone America/Los_Angeles
#   +1 800 555 0123: phone-number-timezone America/Adak
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund phone-number-to-timezone@1.0.8 phone-number-timezone@1.0.0
cat >run.mjs <<'PROGRAM'
import assert from "node:assert/strict"
import { mock } from "node:test"
import zones from "phone-number-timezone"
import local from "phone-number-to-timezone"

const clock = (timeZone, now) => new Intl.DateTimeFormat("en-GB", { timeZone, hour: "2-digit", minute: "2-digit" }).format(now)
const show = (now, number, zone, expected) => {
  mock.timers.enable({ apis: ["Date"], now: Date.parse(now) })
  const times = [local.getLocalInfo(number).time.display, clock(zone, Date.now())]
  mock.timers.reset()
  console.log(`${now} ${number}: phone-number-to-timezone ${times[0]}, ${zone} ${times[1]}`)
  assert.deepEqual(times, expected)
}
show("2026-03-25T12:00:00Z", "+44 20 7946 0123", "Europe/London", ["13:00", "12:00"])
show("2026-12-01T12:00:00Z", "+64 3 234 5678", "Pacific/Auckland", ["01:45", "01:00"])
const name = async (number, expected) => {
  const zone = await zones.phoneNumberTimezone(number)
  console.log(`${number}: phone-number-timezone ${zone}`)
  assert.equal(zone, expected)
}
await name("+1 604 555 0123", "America/Los_Angeles")
await name("+1 800 555 0123", "America/Adak")
PROGRAM
node run.mjs
