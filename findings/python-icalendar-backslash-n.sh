#!/usr/bin/env bash
# python3-icalendar 4.0.3-5 of Debian 12 reads a backslash before the letter n as a line break, also in what it wrote itself.
#
# A backslash in text is written twice (RFC 5545, section 3.3.11), so "C:\new" becomes "C:\\new". The package looks for "\n"
# first, and finds it in there. A path, or a pattern such as "\n", in an invitation is broken into two lines, and the second
# loses a letter. A time with an offset from UTC gets the name "UTC-05:00" as its zone, which no definition goes with: ical.js
# 2.2.1 reads it as 9:00 everywhere, and its own reader reports an unknown zone. python3-vobject 0.9.6.1-2 reads the text as
# written.
#
# Output:
#   written: SUMMARY:C:\\new
#   written: DTSTART;TZID="UTC-05:00";VALUE=DATE-TIME:20270601T090000
#   summary by icalendar: 'C:\new'
#   summary by vobject: 'C:\\new'
#   start by ical.js: 2027-06-01T09:00:00 (no zone)
set -euo pipefail
command -v apt-get >/dev/null || { echo "skipped: this needs apt-get of Debian 12"; exit 0; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
chmod 755 "$folder"
cd "$folder"
version=3.11.2-6+deb12u9
# Into this folder only: nothing is installed.
apt-get -o APT::Sandbox::User=root -qq download python3.11-minimal=$version libpython3.11-minimal=$version \
  libpython3.11-stdlib=$version python3-icalendar=4.0.3-5 python3-vobject=0.9.6.1-2 python3-dateutil python3-tz python3-six ||
  { echo "skipped: apt lacks one of these versions"; exit 0; }
for package in *.deb; do dpkg-deb -x "$package" .; done
npm install --silent --no-audit --no-fund ical.js@2.2.1
cat >run.py <<'PROGRAM'
import sys
from datetime import datetime, timedelta, timezone

sys.path.append("usr/lib/python3/dist-packages")
import icalendar
import vobject

event = icalendar.Event()
event.add("summary", "C:\\new")
event.add("dtstart", datetime(2027, 6, 1, 9, tzinfo=timezone(timedelta(hours=-5))))
written = event.to_ical().decode()
open("event.ics", "w", newline="").write(written)
for line in written.splitlines()[1:3]:
    print("written:", line)
print("summary by icalendar:", repr(str(icalendar.Event.from_ical(written)["summary"])))
print("summary by vobject:", repr(vobject.readOne(written).summary.value))
PROGRAM
cat >run.mjs <<'PROGRAM'
import ICAL from "ical.js"
import assert from "node:assert/strict"
import { execFileSync } from "node:child_process"
import { readFileSync } from "node:fs"

const python = execFileSync("usr/bin/python3.11", ["run.py"], { env: { PYTHONHOME: `${process.cwd()}/usr` }, encoding: "utf8", stdio: "pipe" })
const event = new ICAL.Component(ICAL.parse(readFileSync("event.ics", "utf8")))
const start = event.getFirstPropertyValue("dtstart")
const zone = start.zone === ICAL.Timezone.localTimezone ? "no zone" : start.zone.tzid
const seen = `${python}start by ical.js: ${start} (${zone})`
console.log(seen)
const expected = [
  String.raw`written: SUMMARY:C:\\new`,
  'written: DTSTART;TZID="UTC-05:00";VALUE=DATE-TIME:20270601T090000',
  String.raw`summary by icalendar: 'C:\new'`,
  String.raw`summary by vobject: 'C:\\new'`,
  "start by ical.js: 2027-06-01T09:00:00 (no zone)"
]
assert.deepEqual(seen.split("\n"), expected)
PROGRAM
node run.mjs
