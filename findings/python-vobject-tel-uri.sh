#!/usr/bin/env bash
# python3-vobject 0.9.6.1-2 of Debian 12 adds a backslash to a tel: URI with an extension when it writes a contact that it read.
#
# The value of TEL with VALUE=uri is a URI (RFC 6350, section 6.4.1), which has no escapes. The package writes it as text, so a
# program that only changes the name of a contact makes its number unreadable for others. It reads its own files back as they
# were.
#
# Output:
#   before: tel:+1-212-555-2345;ext=102, extension 102
#   after: tel:+1-212-555-2345\;ext=102, The string supplied did not seem to be a phone number
set -euo pipefail
command -v apt-get >/dev/null || { echo "skipped: this needs apt-get of Debian 12"; exit 0; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
chmod 755 "$folder"
cd "$folder"
version=3.11.2-6+deb12u9
# Into this folder only: nothing is installed.
apt-get -o APT::Sandbox::User=root -qq download python3.11-minimal=$version libpython3.11-minimal=$version \
  libpython3.11-stdlib=$version python3-vobject=0.9.6.1-2 python3-dateutil python3-six ||
  { echo "skipped: apt lacks one of these versions"; exit 0; }
for package in *.deb; do dpkg-deb -x "$package" .; done
npm install --silent --no-audit --no-fund ical.js@2.2.1 google-libphonenumber@3.2.47
cat >run.py <<'PROGRAM'
import sys

sys.path.append("usr/lib/python3/dist-packages")
import vobject

card = vobject.readOne(sys.stdin.read())
card.fn.value = "Robert"
sys.stdout.write(card.serialize())
PROGRAM
cat >run.mjs <<'PROGRAM'
import google from "google-libphonenumber"
import ICAL from "ical.js"
import assert from "node:assert/strict"
import { execFileSync } from "node:child_process"

const util = google.PhoneNumberUtil.getInstance()
const read = ["BEGIN:VCARD", "VERSION:4.0", "FN:Bob", "TEL;VALUE=uri:tel:+1-212-555-2345;ext=102", "END:VCARD", ""].join("\r\n")
const options = { env: { PYTHONHOME: `${process.cwd()}/usr` }, encoding: "utf8", input: read }
const written = execFileSync("usr/bin/python3.11", ["run.py"], options)
const numberOf = (card) => {
  const uri = ICAL.parse(card)[1].find(([name]) => name === "tel")[3]
  try {
    return `${uri}, extension ${util.parse(uri).getExtension()}`
  } catch (error) {
    return `${uri}, ${error.message}`
  }
}
const show = (label, card, expected) => {
  const seen = numberOf(card)
  console.log(`${label}: ${seen}`)
  assert.equal(seen, expected)
}
show("before", read, "tel:+1-212-555-2345;ext=102, extension 102")
show("after", written, String.raw`tel:+1-212-555-2345\;ext=102, The string supplied did not seem to be a phone number`)
PROGRAM
node run.mjs
