#!/usr/bin/env bash
# aws-transcription-to-srt 1.0.6 writes times with a point, for which readers of SRT drop the texts or read milliseconds as
# seconds.
#
# SRT has a comma before the milliseconds, and WebVTT a point. subtitles-parser 0.0.2 finds no text in such a file, srt 0.0.3 no
# times, and @plussub/srt-vtt-parser 2.0.5 reads 8.2 seconds as 8 milliseconds, all without an error. subtitle 4.2.2 accepts it.
#
# Output:
#   written: "00:00:08.200 --> 00:00:08.900"
#   starts, with points: subtitles-parser [], srt [NaN], @plussub/srt-vtt-parser [0.008], subtitle [8.2]
#   starts, with commas: subtitles-parser [8.2], srt [8.2], @plussub/srt-vtt-parser [8.2], subtitle [8.2]
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund aws-transcription-to-srt@1.0.6 subtitles-parser@0.0.2 srt@0.0.3 \
  @plussub/srt-vtt-parser@2.0.5 subtitle@4.2.2
cat >run.mjs <<'PROGRAM'
import { parse as plussub } from "@plussub/srt-vtt-parser"
import convert from "aws-transcription-to-srt"
import assert from "node:assert/strict"
import srt from "srt"
import { parseSync } from "subtitle"
import subtitlesParser from "subtitles-parser"

const word = { start_time: "8.2", end_time: "8.9", alternatives: [{ confidence: "1", content: "Hello" }], type: "pronunciation" }
const period = { alternatives: [{ confidence: "0", content: "." }], type: "punctuation" }
const written = convert({ results: { transcripts: [{ transcript: "Hello." }], items: [word, period] } })
const show = (label, seen, expected) => {
  const text = JSON.stringify(seen)
  console.log(`${label}: ${text}`)
  assert.equal(text, expected)
}
show("written", written.split("\n")[1], '"00:00:08.200 --> 00:00:08.900"')
const readers = {
  "subtitles-parser": (text) => subtitlesParser.fromSrt(text, true).map(({ startTime }) => startTime / 1000),
  srt: (text) => Object.values(srt.fromString(text)).map(({ startTime }) => String(startTime / 1000)),
  "@plussub/srt-vtt-parser": (text) => plussub(text).entries.map(({ from }) => from / 1000),
  subtitle: (text) => parseSync(text).map(({ data }) => data.start / 1000)
}
const showAll = (label, text, ...expected) => {
  const seen = Object.values(readers).map((read) => read(text))
  console.log(`${label}: ${Object.keys(readers).map((name, at) => `${name} [${seen[at]}]`).join(", ")}`)
  assert.deepEqual(seen, expected)
}
showAll("starts, with points", written, [], ["NaN"], [0.008], [8.2])
showAll("starts, with commas", written.replaceAll(/(\d\d)\.(\d{3})/g, "$1,$2"), [8.2], ["8.2"], [8.2], [8.2])
PROGRAM
node run.mjs
