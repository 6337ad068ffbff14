#!/usr/bin/env bash
# @aj-archipelago/subvibe 1.0.12 reads a WebVTT cue of digits as empty, and writes times that no reader accepts.
#
# A caller who says a code leaves a cue such as "4711": its text is gone, also where it is the second line, and nothing tells
# that. A time that is not a whole number of milliseconds, such as 4.35 seconds times 1,000, is written with all its digits.
# WebVTT has three digits after the point. node-webvtt 2.0.0 refuses the file.
#
# Output:
#   cue: The code is 4711: "The code is 4711"
#   cue: 4711: ""
#   cue: The code is / 4711: "The code is"
#   cue: 4711, node-webvtt: "4711"
#   1.001 to 4.35 seconds: "00:01.0.9999999999998863 --> 00:04.350"
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund @aj-archipelago/subvibe@1.0.12 node-webvtt@2.0.0
cat >run.mjs <<'PROGRAM'
import { build, parse } from "@aj-archipelago/subvibe"
import assert from "node:assert/strict"
import webvtt from "node-webvtt"

const show = (label, seen, expected) => {
  const text = JSON.stringify(seen)
  console.log(`${label}: ${text}`)
  assert.equal(text, expected)
}
const textOf = (text) => parse(`WEBVTT\n\n00:00:01.000 --> 00:00:02.000\n${text}\n`).cues[0].text
show("cue: The code is 4711", textOf("The code is 4711"), '"The code is 4711"')
show("cue: 4711", textOf("4711"), '""')
show("cue: The code is / 4711", textOf("The code is\n4711"), '"The code is"')
const other = webvtt.parse("WEBVTT\n\n00:00:01.000 --> 00:00:02.000\n4711\n").cues[0].text
show("cue: 4711, node-webvtt", other, '"4711"')
const written = build([{ index: 1, startTime: 1.001 * 1000, endTime: 4.35 * 1000, text: "Hi" }], "vtt")
const line = (file) => file.split("\n").find((each) => each.includes("-->"))
show("1.001 to 4.35 seconds", line(written), '"00:01.0.9999999999998863 --> 00:04.350"')
PROGRAM
node run.mjs
