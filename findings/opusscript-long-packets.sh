#!/usr/bin/env bash
# opusscript 0.1.1 drops the sound of an Opus packet beyond 60 ms at 48 kHz, and gives 60 ms of sound for each lost packet.
#
# A packet may have up to 120 ms (RFC 6716, section 3.2), and clients on slow networks ask for ptime=120 (RFC 7587). Of such calls
# every second half is missing, without an error. An empty packet, by which libopus fills in a lost one, adds 60 ms whatever the
# length of the others is, so the recording grows and the two sides of a call drift apart. opus-decoder 0.7.12 decodes all of a
# packet, and gives 120 ms for a lost one, of which a program has to keep the part that it needs.
#
# Output:
#   20 ms: opusscript 20 ms, opus-decoder 20 ms
#   60 ms: opusscript 60 ms, opus-decoder 60 ms
#   80 ms: opusscript 60 ms, opus-decoder 80 ms
#   120 ms: opusscript 60 ms, opus-decoder 120 ms
#   lost: opusscript 60 ms, opus-decoder 120 ms
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund opusscript@0.1.1 opus-decoder@0.7.12
cat >run.mjs <<'PROGRAM'
import assert from "node:assert/strict"
import { OpusDecoder } from "opus-decoder"
import OpusScript from "opusscript"

const script = new OpusScript(48_000, 1, OpusScript.Application.VOIP)
const wave = Int16Array.from({ length: 960 }, (_, at) => Math.round(8000 * Math.sin((2 * Math.PI * 440 * at) / 48_000)))
const frame = Buffer.from(script.encode(Buffer.from(wave.buffer), 960))
// Several frames of 20 ms in one packet, each with its length (RFC 6716, sections 3.1 and 3.2.5).
const packet = (count) => {
  const size = frame.length - 1
  const length = size < 252 ? [size] : [252 + (size & 3), (size - 252 - (size & 3)) / 4]
  const lengths = Array.from({ length: count - 1 }, () => length).flat()
  const frames = Array.from({ length: count }, () => frame.subarray(1))
  return Buffer.concat([Buffer.from([frame[0] | 3, 0x80 | count, ...lengths]), ...frames])
}
const decoder = new OpusDecoder({ sampleRate: 48_000, channels: 1 })
await decoder.ready
const show = (label, data, expected) => {
  const { samplesDecoded } = decoder.decodeFrame(Uint8Array.from(data))
  const seen = [script.decode(data).length / 2, samplesDecoded].map((samples) => samples / 48)
  console.log(`${label}: opusscript ${seen[0]} ms, opus-decoder ${seen[1]} ms`)
  assert.deepEqual(seen, expected)
}
show("20 ms", packet(1), [20, 20])
show("60 ms", packet(3), [60, 60])
show("80 ms", packet(4), [60, 80])
show("120 ms", packet(6), [60, 120])
show("lost", Buffer.alloc(0), [60, 120])
PROGRAM
node run.mjs
