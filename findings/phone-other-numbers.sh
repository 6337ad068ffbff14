#!/usr/bin/env bash
# phone 3.1.72 removes a digit from valid numbers with a plus sign, and calls the number of somebody else valid.
#
# It takes the first digit after the country code for a trunk prefix wherever the rest looks like a mobile number, not only a 0:
# in a landline of Darmstadt, in a mobile of Argentina, and in a number of Denver whose extension it reads as a digit. Messages
# and calls then go to another subscriber. With strictDetection: true it refuses these numbers, and changes none.
#
# Output:
#   +49 6151 0000000: phone +491510000000, strict null, google +4961510000000
#   +54 9 11 2345-6789: phone +541123456789, strict null, google +5491123456789
#   +1 720 555 0123 ext. 4: phone +12055501234, strict null, google +17205550123
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund phone@3.1.72 google-libphonenumber@3.2.47
cat >run.mjs <<'PROGRAM'
import google from "google-libphonenumber"
import assert from "node:assert/strict"
import { phone } from "phone"

const util = google.PhoneNumberUtil.getInstance()
const show = (written, changed, e164) => {
  const { isValid, phoneNumber } = phone(written)
  const strict = phone(written, { strictDetection: true })
  const parsed = util.parse(written)
  const read = util.format(parsed, google.PhoneNumberFormat.E164)
  console.log(`${written}: phone ${phoneNumber}, strict ${strict.phoneNumber}, google ${read}`)
  assert.deepEqual([isValid, phoneNumber, strict.isValid], [true, changed, false])
  assert.deepEqual([util.isValidNumber(parsed), read], [true, e164])
}
// No subscriber of Darmstadt has a number that begins with 0.
show("+49 6151 0000000", "+491510000000", "+4961510000000")
// The example of a mobile number that google-libphonenumber has for Argentina.
show("+54 9 11 2345-6789", "+541123456789", "+5491123456789")
show("+1 720 555 0123 ext. 4", "+12055501234", "+17205550123")
PROGRAM
node run.mjs
