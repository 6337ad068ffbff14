#!/usr/bin/env bash
# ssml-builder 0.4.3 escapes the characters of text, but not those of attributes, so its speech is not well-formed XML.
#
# Its README says that it handles special characters to ensure well-formed SSML. The address of a sound with two parameters, an
# alias with "&", and one with an apostrophe, since it writes attributes in those, break the document. A service for speech
# refuses it, and the call stays silent. The caller has to escape attributes, but not text.
#
# Output:
#   <speak>Tom &amp; Al</speak>: well-formed
#   <speak><sub alias='Tom & Al'>TA</sub></speak>: not well-formed
#   <speak><sub alias='Bob's'>B</sub></speak>: not well-formed
#   <speak><audio src='https://a.example/x.mp3?a=1&b=2'/></speak>: not well-formed
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund ssml-builder@0.4.3 fast-xml-parser@5.3.0
cat >run.mjs <<'PROGRAM'
import { XMLValidator } from "fast-xml-parser"
import assert from "node:assert/strict"
import Speech from "ssml-builder"

const show = (speech, isValid) => {
  const seen = speech.ssml()
  // fast-xml-parser does not check ampersands.
  const valid = XMLValidator.validate(seen) === true && !/&(?!\w+;)/.test(seen)
  console.log(`${seen}: ${valid ? "well-formed" : "not well-formed"}`)
  assert.equal(valid, isValid)
}
show(new Speech().say("Tom & Al"), true)
show(new Speech().sub("Tom & Al", "TA"), false)
show(new Speech().sub("Bob's", "B"), false)
show(new Speech().audio("https://a.example/x.mp3?a=1&b=2"), false)
PROGRAM
node run.mjs
