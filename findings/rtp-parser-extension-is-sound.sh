#!/usr/bin/env bash
# rtp-parser 1.0.0 returns the header extension and the padding of an RTP packet as a part of its sound.
#
# Browsers and SIP providers add an extension to each packet, such as the level of the sound (RFC 6464), so a decoder of G.711
# plays a click 50 times a second. The payload begins behind the extension, and ends before the padding (RFC 3550, sections 5.1
# and 5.3.1), as werift-rtp 0.8.9 and rtp.js 0.15.5 return it.
#
# Output:
#   no extension: rtp-parser ffffffff, werift-rtp ffffffff, rtp.js ffffffff
#   level of the sound: rtp-parser bede000110bc0000ffffffff, werift-rtp ffffffff, rtp.js ffffffff
#   padding: rtp-parser ffffffff00000004, werift-rtp ffffffff, rtp.js ffffffff
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund rtp-parser@1.0.0 werift-rtp@0.8.9 rtp.js@0.15.5
cat >run.mjs <<'PROGRAM'
import assert from "node:assert/strict"
import { parseRtpPacket } from "rtp-parser"
import rtp from "rtp.js"
import werift from "werift-rtp"

const header = "0001" + "000000a0" + "00000001"
const sound = "ffffffff"
const show = (label, hex, expected) => {
  const packet = Buffer.from(hex, "hex")
  const view = new rtp.packets.RtpPacket(new DataView(Uint8Array.from(packet).buffer)).getPayload()
  const payloads = [
    parseRtpPacket(packet).payload,
    werift.RtpPacket.deSerialize(packet).payload,
    Buffer.from(view.buffer, view.byteOffset, view.byteLength)
  ].map((payload) => payload.toString("hex"))
  console.log(`${label}: rtp-parser ${payloads[0]}, werift-rtp ${payloads[1]}, rtp.js ${payloads[2]}`)
  assert.deepEqual(payloads, expected)
}
show("no extension", `8000${header}${sound}`, [sound, sound, sound])
const level = "bede000110bc0000"
show("level of the sound", `9000${header}${level}${sound}`, [`${level}${sound}`, sound, sound])
const padding = "00000004"
show("padding", `a000${header}${sound}${padding}`, [`${sound}${padding}`, sound, sound])
PROGRAM
node run.mjs
