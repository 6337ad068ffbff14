#!/usr/bin/env bash
# awesome-phonenumber 7.8.0 says of each number of an international service that its country code is invalid.
#
# The codes 800, 808, 870, 878, 881, 882, 883, 888 and 979 belong to services, not to countries (ITU-T E.164): free calls,
# satellites, networks. The package is a build of Google's library, whose own port for JavaScript and whose rewrite
# libphonenumber-js read them. It gives them no number, no type and no country code, also where its caller
# names the region 001.
#
# Output:
#   +800 1234 5678: awesome-phonenumber invalid-country-code, google-libphonenumber valid, libphonenumber-js valid
#   +870 773 111 632: awesome-phonenumber invalid-country-code, google-libphonenumber valid, libphonenumber-js valid
#   +979 123 456 789: awesome-phonenumber invalid-country-code, google-libphonenumber valid, libphonenumber-js valid
#   +1 212 555 2345: awesome-phonenumber valid, google-libphonenumber valid, libphonenumber-js valid
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund awesome-phonenumber@7.8.0 google-libphonenumber@3.2.47 libphonenumber-js@1.13.16
cat >run.mjs <<'PROGRAM'
import { parsePhoneNumber } from "awesome-phonenumber"
import google from "google-libphonenumber"
import parse from "libphonenumber-js/max"
import assert from "node:assert/strict"

const util = google.PhoneNumberUtil.getInstance()
const show = (number, expected, options) => {
  const { possibility, valid } = parsePhoneNumber(number, options)
  const word = (isValid) => (isValid ? "valid" : "not valid")
  const seen = [valid ? "valid" : possibility, word(util.isValidNumber(util.parse(number))), word(parse(number).isValid())]
  console.log(`${number}: awesome-phonenumber ${seen[0]}, google-libphonenumber ${seen[1]}, libphonenumber-js ${seen[2]}`)
  assert.deepEqual(seen, [expected, "valid", "valid"])
}
show("+800 1234 5678", "invalid-country-code")
show("+870 773 111 632", "invalid-country-code")
show("+979 123 456 789", "invalid-country-code", { regionCode: "001" })
show("+1 212 555 2345", "valid")
PROGRAM
node run.mjs
