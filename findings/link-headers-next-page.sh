#!/usr/bin/env bash
# http-link-header 1.1.4, parse-link-header 2.0.0 and @hugoalh/http-header-link 1.0.3 lose the next page in valid Link fields.
#
# RFC 8288, section 3, allows white space around the semicolon, the equals sign and the comma, names of parameters in any case,
# parameters without a value, and values without quotes. http-link-header loses a link that follows a space and a comma, and
# takes a parameter without a value as a part of the next one's name. parse-link-header finds no link at all where a space is
# around the equals sign, or the name is REL. The third has an empty relation where a comma follows a value without quotes. A
# client then stops at the first page.
#
# Output:
#   </1>; rel="prev", </2>; rel="next": http-link-header found, parse-link-header found, hugoalh found
#   </1>; rel="prev" , </2>; rel="next": http-link-header not found, parse-link-header found, hugoalh found
#   </2>; crossorigin; rel="next": http-link-header not found, parse-link-header found, hugoalh found
#   </2>; rel = "next": http-link-header found, parse-link-header not found, hugoalh found
#   </2>; REL="next": http-link-header found, parse-link-header not found, hugoalh found
#   </2>; rel=next, </1>; rel=prev: http-link-header found, parse-link-header found, hugoalh not found
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund http-link-header@1.1.4 parse-link-header@2.0.0 @hugoalh/http-header-link@1.0.3
cat >run.mjs <<'PROGRAM'
import * as hugoalh from "@hugoalh/http-header-link"
import httpLinkHeader from "http-link-header"
import assert from "node:assert/strict"
import parse from "parse-link-header"

const readers = {
  "http-link-header": (field) => httpLinkHeader.parse(field).rel("next")[0]?.uri,
  "parse-link-header": (field) => parse(field)?.next?.url,
  hugoalh: (field) => [...new hugoalh.HTTPHeaderLink(field).entries()].find(([, { rel }]) => rel === "next")?.[0]
}
const show = (field, ...expected) => {
  const seen = Object.values(readers).map((read) => (read(field) === "/2" ? "found" : "not found"))
  console.log(`${field}: ${Object.keys(readers).map((name, at) => `${name} ${seen[at]}`).join(", ")}`)
  assert.deepEqual(seen, expected)
}
show('</1>; rel="prev", </2>; rel="next"', "found", "found", "found")
show('</1>; rel="prev" , </2>; rel="next"', "not found", "found", "found")
show('</2>; crossorigin; rel="next"', "not found", "found", "found")
show('</2>; rel = "next"', "found", "not found", "found")
show('</2>; REL="next"', "found", "not found", "found")
show("</2>; rel=next, </1>; rel=prev", "found", "found", "not found")
PROGRAM
node run.mjs
