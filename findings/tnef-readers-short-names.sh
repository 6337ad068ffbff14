#!/usr/bin/env bash
# node-tnef 1.4.0 and ytnef 2.0-1+b1 of Debian 12 name a file of a winmail.dat by its short name, though the long name is in it.
#
# attAttachTitle holds the name of eight letters, and PidTagAttachLongFilename the one that the sender sees, in Unicode (MS-OXTNEF).
# node-tnef reads only the first. ytnef reads the second if it is not in Unicode, and writes two files that have the
# same name into one: the first is lost, without an error. tnef 1.4.18-3 reads the long name.
#
# Output, for "Offer for Zoë.html" and "Offer for Bob.html":
#   node-tnef: OFFERF~1.HTM, OFFERF~1.HTM
#   ytnef: OFFERF~1.HTM
#   tnef: Offer for Bob.html, Offer for Zoë.html
set -euo pipefail
command -v apt-get >/dev/null || { echo "skipped: this needs apt-get of Debian 12"; exit 0; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
chmod 755 "$folder"
cd "$folder"
# Into this folder only: nothing is installed.
apt-get -o APT::Sandbox::User=root -qq download tnef=1.4.18-3 ytnef-tools=2.0-1+b1 libytnef0=2.0-1+b1 ||
  { echo "skipped: apt lacks one of these versions"; exit 0; }
for package in *.deb; do dpkg-deb -x "$package" .; done
npm install --silent --no-audit --no-fund node-tnef@1.4.0
mkdir by-tnef by-ytnef
cat >run.mjs <<'PROGRAM'
import tnef from "node-tnef"
import assert from "node:assert/strict"
import { execFileSync } from "node:child_process"
import { readdirSync, writeFileSync } from "node:fs"

const bytes = (length, value) => [...Array(length).keys()].map((at) => (value >> (8 * at)) & 255)
const attribute = (level, id, data) => {
  const sum = [...data].reduce((total, byte) => total + byte, 0)
  return [level, ...bytes(4, id), ...bytes(4, data.length), ...data, ...bytes(2, sum)]
}
const attachment = (name, text) => {
  const long = Buffer.from(`${name}\0`, "utf16le")
  const padding = Array((4 - (long.length % 4)) % 4).fill(0)
  // One property: PidTagAttachLongFilename, PtypString, one value.
  const properties = [...bytes(4, 1), ...bytes(4, 0x3707001f), ...bytes(4, 1), ...bytes(4, long.length), ...long]
  return [
    ...attribute(2, 0x00069002, Array(14).fill(0)),
    ...attribute(2, 0x00018010, Buffer.from("OFFERF~1.HTM\0")),
    ...attribute(2, 0x0006800f, Buffer.from(text)),
    ...attribute(2, 0x00069005, [...properties, ...padding])
  ]
}
const file = Buffer.from([
  ...bytes(4, 0x223e9f78),
  ...bytes(2, 1),
  ...attribute(1, 0x00089006, bytes(4, 0x00010000)),
  ...attribute(1, 0x00069007, [...bytes(4, 1252), ...bytes(4, 0)]),
  ...attachment("Offer for Zoë.html", "one"),
  ...attachment("Offer for Bob.html", "two")
])
writeFileSync("winmail.dat", file)
const env = { ...process.env, LD_LIBRARY_PATH: "usr/lib/x86_64-linux-gnu", LC_ALL: "C.UTF-8" }
execFileSync("usr/bin/ytnef", ["-f", "by-ytnef", "winmail.dat"], { env, stdio: "ignore" })
execFileSync("usr/bin/tnef", ["-C", "by-tnef", "-f", "winmail.dat"], { env })

const show = (label, names, expected) => {
  console.log(`${label}: ${names.join(", ")}`)
  assert.equal(names.join(", "), expected)
}
const log = process.stdout.write
process.stdout.write = () => true
const read = await new Promise((resolve) => tnef.parseBuffer(file, (_, content) => resolve(content)))
process.stdout.write = log
show("node-tnef", read.Attachments.map(({ Title }) => Title), "OFFERF~1.HTM, OFFERF~1.HTM")
show("ytnef", readdirSync("by-ytnef"), "OFFERF~1.HTM")
show("tnef", readdirSync("by-tnef").sort(), "Offer for Bob.html, Offer for Zoë.html")
PROGRAM
node run.mjs
