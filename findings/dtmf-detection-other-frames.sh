#!/usr/bin/env bash
# dtmf-detection-stream 1.18.0 reads other bytes than it is given, if a frame of sound is a part of a larger buffer.
#
# It takes the beginning of the memory behind the frame, as long as the frame is. Frames of a stream, of a file and of small
# messages share their memory: Buffer.from(payload, "base64"), as in examples for media of calls, returns such a part. The
# digits that a caller dials are then not reported, or others are. A frame has to be copied to memory of its own first.
#
# Output:
#   5471, frames with memory of their own: "5471"
#   5471, frames as parts of one buffer: ""
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund dtmf-detection-stream@1.18.0
cat >run.mjs <<'PROGRAM'
import DtmfDetectionStream from "dtmf-detection-stream"
import assert from "node:assert/strict"

const rows = [697, 770, 852, 941]
const columns = [1209, 1336, 1477]
const tones = new Map([..."123456789*0#"].map((digit, at) => [digit, [rows[Math.floor(at / 3)], columns[at % 3]]]))
const wave = (frequency, at) => Math.sin((2 * Math.PI * frequency * at) / 8000)
const samples = Array.from({ length: 1600 }, () => 0)
for (const digit of "5471") {
  for (let at = 0; at < 800; at += 1) {
    const [row, column] = tones.get(digit)
    samples.push(4000 * (wave(row, at) + wave(column, at)))
  }
  for (let at = 0; at < 800; at += 1) samples.push(0)
}
const call = Buffer.from(Int16Array.from(samples).buffer)
const show = (label, frameOf, expected) => {
  const stream = new DtmfDetectionStream({ format: { sampleRate: 8000, bitDepth: 16, channels: 1 } })
  let digits = ""
  stream.on("dtmf", ({ digit }) => (digits += digit))
  for (let at = 0; at < call.length; at += 320) stream.write(frameOf(call.subarray(at, at + 320)))
  console.log(`${label}: ${JSON.stringify(digits)}`)
  assert.equal(digits, expected)
}
show("5471, frames with memory of their own", (frame) => Buffer.from(Uint8Array.from(frame).buffer), "5471")
show("5471, frames as parts of one buffer", (frame) => frame, "")
process.exit()
PROGRAM
node run.mjs
