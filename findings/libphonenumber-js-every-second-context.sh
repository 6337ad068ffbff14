#!/usr/bin/env bash
# libphonenumber-js 1.13.16 reads only every second tel: URI that has a phone-context.
#
# A local number has its context (RFC 3966, section 5.1.5): the beginning of the global number. The package keeps the place where
# its last test of a context ended, and begins the next test there. So the same URI is read, then not, then read again, and what a
# server answers depends on the calls before. google-libphonenumber 3.2.47 reads it each time.
#
# Output:
#   tel:555-2345;phone-context=+1-212, 1st time: libphonenumber-js +12125552345, google-libphonenumber +12125552345
#   tel:555-2345;phone-context=+1-212, 2nd time: libphonenumber-js undefined, google-libphonenumber +12125552345
#   tel:555-2345;phone-context=+1-212, 3rd time: libphonenumber-js +12125552345, google-libphonenumber +12125552345
#   tel:7946-0958;phone-context=+4420, after it: libphonenumber-js undefined, google-libphonenumber +442079460958
#   tel:+1-212-555-2345, after it: libphonenumber-js +12125552345, google-libphonenumber +12125552345
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund libphonenumber-js@1.13.16 google-libphonenumber@3.2.47
cat >run.mjs <<'PROGRAM'
import google from "google-libphonenumber"
import parse from "libphonenumber-js"
import assert from "node:assert/strict"

const util = google.PhoneNumberUtil.getInstance()
const show = (uri, time, ...expected) => {
  const seen = [parse(uri)?.number, util.format(util.parse(uri), google.PhoneNumberFormat.E164)]
  console.log(`${uri}, ${time}: libphonenumber-js ${seen[0]}, google-libphonenumber ${seen[1]}`)
  assert.deepEqual(seen, expected)
}
const local = "tel:555-2345;phone-context=+1-212"
show(local, "1st time", "+12125552345", "+12125552345")
show(local, "2nd time", undefined, "+12125552345")
show(local, "3rd time", "+12125552345", "+12125552345")
show("tel:7946-0958;phone-context=+4420", "after it", undefined, "+442079460958")
show("tel:+1-212-555-2345", "after it", "+12125552345", "+12125552345")
PROGRAM
node run.mjs
