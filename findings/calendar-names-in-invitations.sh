#!/usr/bin/env bash
# ics 3.12.0, ical-generator 10.2.0 and ts-ics 2.4.6 write names of organizers that other readers of invitations misread.
#
# A parameter such as CN has no backslashes (RFC 5545, section 3.2): a quotation mark in it is written ^' (RFC 6868), and a value
# with a comma, colon or semicolon in quotes. ics and ical-generator write \" into the quotes: node-ical 0.26.1 then finds no
# organizer, and ical.js 2.2.1 half of the name. ts-ics writes no quotes: a colon in the name becomes the beginning of the address,
# in its own reader too. node-ical and ts-ics also misread valid names: they split them at a semicolon in quotes, and leave ^' as it
# is.
#
# Output:
#   Bob "B", written by ics: ical.js Bob \ <bob@b.example>, node-ical none, ts-ics Bob \"B\" <bob@b.example>
#   Bob "B", written by ical-generator: ical.js Bob \ <bob@b.example>, node-ical none, ts-ics Bob \"B\" <bob@b.example>
#   Bob: Sales, written by ts-ics: ical.js Bob < Sales:MAILTO:bob@b.example>, node-ical Bob < Sales:MAILTO:bob@b.example>, ts-ics Bob < Sales:bob@b.example>
#   Bob: Sales, written by ics: ical.js Bob: Sales <bob@b.example>, node-ical Bob: Sales <bob@b.example>, ts-ics Bob: Sales <bob@b.example>
#   CN="Bob; Sales": ical.js Bob; Sales <bob@b.example>, node-ical "Bob <bob@b.example>, ts-ics "Bob <bob@b.example>
#   CN="Bob ^'B^'": ical.js Bob "B" <bob@b.example>, node-ical Bob ^'B^' <bob@b.example>, ts-ics Bob ^'B^' <bob@b.example>
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund ics@3.12.0 ical-generator@10.2.0 ts-ics@2.4.6 ical.js@2.2.1 node-ical@0.26.1
cat >run.mjs <<'PROGRAM'
import ICAL from "ical.js"
import generate from "ical-generator"
import * as ics from "ics"
import assert from "node:assert/strict"
import nodeIcal from "node-ical"
import { convertIcsCalendar, generateIcsCalendar } from "ts-ics"

const start = new Date("2027-06-01T09:00:00Z")
const email = "bob@b.example"
const writers = {
  ics: (organizer) => ics.createEvent({ start: start.getTime(), duration: { hours: 1 }, title: "Call", organizer }).value,
  "ical-generator": (organizer) => {
    const calendar = generate()
    calendar.createEvent({ start, summary: "Call", organizer })
    return String(calendar)
  },
  "ts-ics": (organizer) => {
    const event = { uid: "1", summary: "Call", stamp: { date: start }, start: { date: start }, duration: { hours: 1 }, organizer }
    return generateIcsCalendar({ version: "2.0", prodId: "x", events: [event] })
  }
}
const readers = {
  "ical.js": (text) => {
    const property = new ICAL.Component(ICAL.parse(text)).getFirstSubcomponent("vevent").getFirstProperty("organizer")
    return [property.getParameter("cn"), property.getFirstValue()]
  },
  "node-ical": (text) => {
    const { organizer } = Object.values(nodeIcal.sync.parseICS(text)).find(({ type }) => type === "VEVENT")
    return organizer === undefined ? undefined : [organizer.params.CN, organizer.val]
  },
  "ts-ics": (text) => {
    const { email: address, name } = convertIcsCalendar(undefined, text).events[0].organizer
    return [name, address]
  }
}
const show = (label, text, ...expected) => {
  const seen = Object.values(readers).map((reader) => {
    const organizer = reader(text)
    return organizer === undefined ? "none" : `${organizer[0]} <${organizer[1].replace(/^mailto:/i, "")}>`
  })
  console.log(`${label}: ${Object.keys(readers).map((reader, index) => `${reader} ${seen[index]}`).join(", ")}`)
  assert.deepEqual(seen, expected)
}
const showWritten = (name, writer, ...expected) =>
  show(`${name}, written by ${writer}`, writers[writer]({ name, email }), ...expected)
for (const writer of ["ics", "ical-generator"])
  showWritten('Bob "B"', writer, "Bob \\ <bob@b.example>", "none", 'Bob \\"B\\" <bob@b.example>')
const misplaced = "Bob < Sales:MAILTO:bob@b.example>"
showWritten("Bob: Sales", "ts-ics", misplaced, misplaced, "Bob < Sales:bob@b.example>")
showWritten("Bob: Sales", "ics", ...Object.keys(readers).map(() => "Bob: Sales <bob@b.example>"))

const showRead = (parameter, ...expected) => {
  const event = ["UID:1", "DTSTAMP:20270601T080000Z", "DTSTART:20270601T090000Z", `ORGANIZER;${parameter}:mailto:${email}`]
  const lines = ["BEGIN:VCALENDAR", "VERSION:2.0", "PRODID:x", "BEGIN:VEVENT", ...event, "END:VEVENT", "END:VCALENDAR", ""]
  show(parameter, lines.join("\r\n"), ...expected.map((name) => `${name} <bob@b.example>`))
}
showRead('CN="Bob; Sales"', "Bob; Sales", '"Bob', '"Bob')
showRead("CN=\"Bob ^'B^'\"", 'Bob "B"', "Bob ^'B^'", "Bob ^'B^'")
PROGRAM
node run.mjs
