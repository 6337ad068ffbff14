#!/usr/bin/env bash
# node-webvtt 2.0.0 refuses valid WebVTT files, and @plussub/srt-vtt-parser 2.0.5 loses the end of a cue.
#
# A file may have blocks for style before its cues, several empty lines between blocks, and tabs around the arrow (WebVTT,
# section 4). node-webvtt throws for each. The other returns no end for a cue whose times have no hours, if settings follow.
# webvtt-parser 2.2.0 reads all of them.
#
# Output:
#   plain: node-webvtt [[1,2.5]], plussub [[1,2.5]], webvtt-parser [[1,2.5]]
#   style: node-webvtt throws, plussub [[1,2.5]], webvtt-parser [[1,2.5]]
#   three empty lines: node-webvtt throws, plussub [[1,2.5]], webvtt-parser [[1,2.5]]
#   tabs: node-webvtt throws, plussub [[1,2.5]], webvtt-parser [[1,2.5]]
#   settings, no hours: node-webvtt [[1,2.5]], plussub [[1,null]], webvtt-parser [[1,2.5]]
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund node-webvtt@2.0.0 @plussub/srt-vtt-parser@2.0.5 webvtt-parser@2.2.0
cat >run.mjs <<'PROGRAM'
import { parse as plussub } from "@plussub/srt-vtt-parser"
import assert from "node:assert/strict"
import webvtt from "node-webvtt"
import webvttParser from "webvtt-parser"

const readers = {
  "node-webvtt": (text) => webvtt.parse(text).cues.map(({ start, end }) => [start, end]),
  plussub: (text) => plussub(text).entries.map(({ from, to }) => [from / 1000, to / 1000]),
  "webvtt-parser": (text) => new webvttParser.WebVTTParser().parse(text, "captions").cues.map((cue) => [cue.startTime, cue.endTime])
}
const show = (label, text, expected) => {
  const seen = Object.entries(readers).map(([name, read]) => {
    try {
      return `${name} ${JSON.stringify(read(text))}`
    } catch {
      return `${name} throws`
    }
  })
  console.log(`${label}: ${seen.join(", ")}`)
  assert.equal(seen.join(", "), expected)
}
const cue = "00:00:01.000 --> 00:00:02.500\nHello\n"
const read = "[[1,2.5]]"
const results = (...each) => Object.keys(readers).map((name, at) => `${name} ${each[at]}`).join(", ")
show("plain", `WEBVTT\n\n${cue}`, results(read, read, read))
show("style", `WEBVTT\n\nSTYLE\n::cue { color: red }\n\n${cue}`, results("throws", read, read))
show("three empty lines", `WEBVTT\n\n\n\n${cue}`, results("throws", read, read))
show("tabs", `WEBVTT\n\n${cue.replaceAll(" --> ", "\t-->\t")}`, results("throws", read, read))
show("settings, no hours", `WEBVTT\n\n00:01.000 --> 00:02.500 align:start\nHello\n`, results(read, "[[1,null]]", read))
PROGRAM
node run.mjs
