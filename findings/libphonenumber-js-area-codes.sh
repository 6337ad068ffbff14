#!/usr/bin/env bash
# libphonenumber-js 1.13.16 calls numbers of area codes that are in service invalid, and those of one that is not valid.
#
# The area codes 436 (Ohio), 624 (New York) and 861 (Illinois) are in service by the NPA Database of NANPA of 2026-09-21, whose
# file lists 17 that the metadata lacks. The metadata has 273, which the file does not list as in service. An application that
# refuses numbers by isValid() refuses people with one of these.
#
# Output:
#   +1 436 555 2345: valid false, possible true
#   +1 624 555 2345: valid false, possible true
#   +1 861 555 2345: valid false, possible true
#   +1 273 555 2345: valid true, possible true
#   +1 212 555 2345: valid true, possible true
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund libphonenumber-js@1.13.16
cat >run.mjs <<'PROGRAM'
import assert from "node:assert/strict"
import { parsePhoneNumberFromString } from "libphonenumber-js/max"

for (const [area, expected] of [["436", false], ["624", false], ["861", false], ["273", true], ["212", true]]) {
  const number = parsePhoneNumberFromString(`+1${area}5552345`)
  console.log(`+1 ${area} 555 2345: valid ${number.isValid()}, possible ${number.isPossible()}`)
  assert.deepEqual([number.isValid(), number.isPossible()], [expected, true])
}
PROGRAM
node run.mjs
