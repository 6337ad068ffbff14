#!/usr/bin/env bash
# ical-generator 10.2.0 writes backslashes into the URL of an event, so that readers open another page.
#
# The value of URL is a URI, which has no escapes (RFC 5545, sections 3.3.13 and 3.8.4.6). The package escapes commas and
# semicolons in it as in text. Links to meetings and maps have such characters. ics 3.12.0 writes the URL as it is. ical.js
# 2.2.1 keeps the backslashes, and node-ical 0.26.1 removes them.
#
# Output:
#   ics, at: ical.js 40.7,-74.0;zoom=3, node-ical 40.7,-74.0;zoom=3
#   ical-generator, at: ical.js 40.7\,-74.0\;zoom=3, node-ical 40.7,-74.0;zoom=3
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund ical-generator@10.2.0 ics@3.12.0 ical.js@2.2.1 node-ical@0.26.1
cat >run.mjs <<'PROGRAM'
import ICAL from "ical.js"
import generate from "ical-generator"
import { createEvent } from "ics"
import nodeIcal from "node-ical"
import assert from "node:assert/strict"

const url = "https://a.example/map?at=40.7,-74.0;zoom=3"
const start = new Date("2027-06-01T09:00:00Z")
const calendar = generate()
calendar.createEvent({ start, summary: "Call", url })
const readers = {
  "ical.js": (text) => new ICAL.Component(ICAL.parse(text)).getFirstSubcomponent("vevent").getFirstPropertyValue("url"),
  "node-ical": (text) => {
    const { url: seen } = Object.values(nodeIcal.sync.parseICS(text)).find(({ type }) => type === "VEVENT")
    return seen.val ?? seen
  }
}
const show = (writer, text, ...expected) => {
  const seen = Object.values(readers).map((read) => new URL(read(text)).searchParams.get("at"))
  console.log(`${writer}, at: ${Object.keys(readers).map((name, at) => `${name} ${seen[at]}`).join(", ")}`)
  assert.deepEqual(seen, expected)
}
const other = createEvent({ start: start.getTime(), duration: { hours: 1 }, title: "Call", url }).value
show("ics", other, "40.7,-74.0;zoom=3", "40.7,-74.0;zoom=3")
show("ical-generator", String(calendar), String.raw`40.7\,-74.0\;zoom=3`, "40.7,-74.0;zoom=3")
PROGRAM
node run.mjs
