#!/usr/bin/env bash
# wavefile 11.0.0 returns one sample more than a WAV file of an odd length has: the loudest one, in a recording of a call.
#
# A chunk of odd length is followed by a byte of padding, 0, which is not part of it (RIFF). In mu-law, as telephony uses it, 0
# stands for the lowest value, so each such recording ends in a click. The package also writes no padding: a reader that skips
# it looks for the tags behind the sound one byte too late. wav-file-decoder 1.0.3 returns the samples that the file has.
#
# Output:
#   mu-law, 4 samples of silence: 0,0,0,0
#   mu-law, 5 samples of silence: 0,0,0,0,0,-32124
#   linear, 3 samples of silence: 128,128,128,0
#   linear, 3 samples of silence, wav-file-decoder: 0,0,0
#   bytes of padding that it writes behind 3 samples: 0
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund wavefile@11.0.0 wav-file-decoder@1.0.3
cat >run.mjs <<'PROGRAM'
import assert from "node:assert/strict"
import { decodeWavFile } from "wav-file-decoder"
import wavefile from "wavefile"

const chunk = (name, bytes) => {
  const head = Buffer.alloc(8)
  head.write(name)
  head.writeUInt32LE(bytes.length, 4)
  return Buffer.concat([head, bytes, Buffer.alloc(bytes.length % 2)])
}
const fileOf = (format, data) => {
  const head = Buffer.alloc(18)
  for (const [at, value] of [format, 1, 8000, 0, 8000, 0, 1, 8].entries()) head.writeUInt16LE(value, 2 * at)
  const body = Buffer.concat([Buffer.from("WAVE"), chunk("fmt ", head), chunk("data", Buffer.from(data))])
  return chunk("RIFF", body)
}
const show = (label, seen, expected) => {
  console.log(`${label}: ${seen}`)
  assert.equal(String(seen), expected)
}
const samplesOf = (file) => {
  const read = new wavefile.WaveFile(file)
  if (read.bitDepth === "8m") read.fromMuLaw()
  return read.getSamples(false, Int16Array)
}
show("mu-law, 4 samples of silence", samplesOf(fileOf(7, [255, 255, 255, 255])), "0,0,0,0")
show("mu-law, 5 samples of silence", samplesOf(fileOf(7, [255, 255, 255, 255, 255])), "0,0,0,0,0,-32124")
show("linear, 3 samples of silence", samplesOf(fileOf(1, [128, 128, 128])), "128,128,128,0")
const other = decodeWavFile(Uint8Array.from(fileOf(1, [128, 128, 128])).buffer).channelData[0]
show("linear, 3 samples of silence, wav-file-decoder", other, "0,0,0")
const written = new wavefile.WaveFile()
written.fromScratch(1, 8000, "8m", [255, 255, 255])
written.setTag("ICMT", "call")
const bytes = Buffer.from(written.toBuffer())
const padding = bytes.indexOf("LIST") - bytes.indexOf("data") - 8 - 3
show("bytes of padding that it writes behind 3 samples", padding, "0")
PROGRAM
node run.mjs
