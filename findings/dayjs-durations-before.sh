#!/usr/bin/env bash
# dayjs 1.11.23 reads the durations that it writes for times before an event as times after it.
#
# A reminder 15 minutes before an event is -PT15M (RFC 5545, section 3.3.6), and dayjs writes it so. It reads the text without
# the sign, and "PT0,5S", which has the comma of ISO 8601, as 0. Both give no error. luxon 3.7.2 and ical.js 2.2.1 keep the
# sign.
#
# Output:
#   -15 minutes, written by dayjs: -PT15M
#   PT15M in seconds: dayjs 900, luxon 900
#   -PT15M in seconds: dayjs 900, luxon -900
#   PT0,5S in seconds: dayjs 0, luxon 0.5
#   -PT15M in seconds, ical.js: -900
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund dayjs@1.11.23 luxon@3.7.2 ical.js@2.2.1
cat >run.mjs <<'PROGRAM'
import dayjs from "dayjs"
import duration from "dayjs/plugin/duration.js"
import ICAL from "ical.js"
import { Duration } from "luxon"
import assert from "node:assert/strict"

dayjs.extend(duration)
const written = dayjs.duration({ minutes: -15 }).toISOString()
console.log(`-15 minutes, written by dayjs: ${written}`)
assert.equal(written, "-PT15M")
const show = (text, ...expected) => {
  const seen = [dayjs.duration(text).asSeconds(), Duration.fromISO(text).as("seconds")]
  console.log(`${text} in seconds: dayjs ${seen[0]}, luxon ${seen[1]}`)
  assert.deepEqual(seen, expected)
}
show("PT15M", 900, 900)
show(written, 900, -900)
show("PT0,5S", 0, 0.5)
const reminder = ICAL.Duration.fromString(written).toSeconds()
console.log(`${written} in seconds, ical.js: ${reminder}`)
assert.equal(reminder, -900)
PROGRAM
node run.mjs
