#!/usr/bin/env bash
# node-ical 0.26.1 and ts-ics 2.4.6 split a category at an escaped comma; node-ical reads a backslash before the letter n as a
# line break, and ts-ics keeps the last line of categories.
#
# A category may contain a comma, written "\,", and an event may have several lines of categories (RFC 5545, sections 3.8.1.2
# and 3.6.1). A backslash in text is written twice (section 3.3.11): "C:\\new" is the path C:\new, which node-ical breaks into
# two lines. ical.js 2.2.1 reads all of it.
#
# Output:
#   SUMMARY:C:\\new: node-ical "C:\\\new", ts-ics "C:\\new", ical.js "C:\\new"
#   CATEGORIES:a\,b,c: node-ical ["a\\","b","c"], ts-ics ["a\\","b","c"], ical.js ["a,b","c"]
#   CATEGORIES:a and CATEGORIES:b: node-ical ["a","b"], ts-ics ["b"], ical.js ["a","b"]
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund node-ical@0.26.1 ts-ics@2.4.6 ical.js@2.2.1
cat >run.mjs <<'PROGRAM'
import ICAL from "ical.js"
import nodeIcal from "node-ical"
import assert from "node:assert/strict"
import { convertIcsCalendar } from "ts-ics"

const readers = {
  "node-ical": (text) => Object.values(nodeIcal.sync.parseICS(text)).find(({ type }) => type === "VEVENT"),
  "ts-ics": (text) => convertIcsCalendar(undefined, text).events[0],
  "ical.js": (text) => {
    const event = new ICAL.Component(ICAL.parse(text)).getFirstSubcomponent("vevent")
    const categories = event.getAllProperties("categories").flatMap((each) => each.getValues())
    return { summary: event.getFirstPropertyValue("summary"), categories }
  }
}
const show = (field, lines, ...expected) => {
  const event = ["BEGIN:VEVENT", "UID:1", "DTSTAMP:20270601T100000Z", "DTSTART:20270601T090000Z", ...lines, "END:VEVENT"]
  const text = ["BEGIN:VCALENDAR", "VERSION:2.0", "PRODID:x", ...event, "END:VCALENDAR", ""].join("\r\n")
  const seen = Object.values(readers).map((read) => JSON.stringify(read(text)[field]))
  console.log(`${lines.join(" and ")}: ${Object.keys(readers).map((name, at) => `${name} ${seen[at]}`).join(", ")}`)
  assert.deepEqual(seen, expected)
}
const path = String.raw`"C:\\new"`
show("summary", [String.raw`SUMMARY:C:\\new`], String.raw`"C:\\\new"`, path, path)
const two = [String.raw`["a\\","b","c"]`, String.raw`["a\\","b","c"]`]
show("categories", [String.raw`CATEGORIES:a\,b,c`], ...two, '["a,b","c"]')
show("categories", ["CATEGORIES:a", "CATEGORIES:b"], '["a","b"]', '["b"]', '["a","b"]')
PROGRAM
node run.mjs
