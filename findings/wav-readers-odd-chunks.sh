#!/usr/bin/env bash
# wav 1.0.2, wav-decoder 1.3.0 and node-wav 0.0.2 find no sound in a WAV file that has a chunk of odd length before the sound.
#
# Recorders put text there, such as XML with the time of a call (iXML, bext). A chunk of odd length is followed by a byte of
# padding, which its length does not count (RIFF). The three do not skip it, and read all that follows one byte off. wav then
# ends without an error and without a sample. wavefile 11.0.0 and wav-file-decoder 1.0.3 read the file.
#
# Output:
#   samples behind a chunk of 8 bytes: wav 4, wav-decoder 4, node-wav 4, wavefile 4, wav-file-decoder 4
#   samples behind a chunk of 7 bytes: wav 0, wav-decoder throws, node-wav throws, wavefile 4, wav-file-decoder 4
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund wav@1.0.2 wav-decoder@1.3.0 node-wav@0.0.2 wavefile@11.0.0 wav-file-decoder@1.0.3
cat >run.mjs <<'PROGRAM'
import nodeWav from "node-wav"
import assert from "node:assert/strict"
import { once } from "node:events"
import wav from "wav"
import decoder from "wav-decoder"
import { decodeWavFile } from "wav-file-decoder"
import wavefile from "wavefile"

const chunk = (name, bytes) => {
  const head = Buffer.alloc(8)
  head.write(name)
  head.writeUInt32LE(bytes.length, 4)
  return Buffer.concat([head, bytes, Buffer.alloc(bytes.length % 2)])
}
const fileOf = (text) => {
  const format = Buffer.alloc(16)
  for (const [at, value] of [1, 1, 8000, 0, 16000, 0, 2, 16].entries()) format.writeUInt16LE(value, 2 * at)
  const chunks = [chunk("fmt ", format), chunk("iXML", Buffer.from(text)), chunk("data", Buffer.alloc(8, 1))]
  return chunk("RIFF", Buffer.concat([Buffer.from("WAVE"), ...chunks]))
}
const memoryOf = (file) => Uint8Array.from(file).buffer
const readers = {
  wav: async (file) => {
    const reader = new wav.Reader()
    let length = 0
    reader.on("data", (bytes) => (length += bytes.length))
    reader.end(file)
    await once(reader, "end")
    return length / 2
  },
  "wav-decoder": async (file) => (await decoder.decode(memoryOf(file))).channelData[0].length,
  "node-wav": async (file) => nodeWav.decode(Buffer.from(memoryOf(file))).channelData[0].length,
  wavefile: async (file) => new wavefile.WaveFile(file).getSamples().length,
  "wav-file-decoder": async (file) => decodeWavFile(memoryOf(file)).channelData[0].length
}
const show = async (label, text, expected) => {
  const seen = []
  for (const [name, read] of Object.entries(readers)) {
    const outcome = await read(fileOf(text)).catch(() => "throws")
    seen.push(`${name} ${outcome}`)
  }
  console.log(`${label}: ${seen.join(", ")}`)
  assert.equal(seen.join(", "), expected)
}
const all = "wav 4, wav-decoder 4, node-wav 4, wavefile 4, wav-file-decoder 4"
await show("samples behind a chunk of 8 bytes", "<CALL />", all)
await show("samples behind a chunk of 7 bytes", "<CALL/>", "wav 0, wav-decoder throws, node-wav throws, wavefile 4, wav-file-decoder 4")
PROGRAM
node run.mjs
