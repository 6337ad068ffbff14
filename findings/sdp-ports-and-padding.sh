#!/usr/bin/env bash
# sdp-transform 3.0.0 writes "m=undefined NaN undefined" for media with a number of ports; sdp 3.2.2 drops the padding of base64.
#
# A media line may have a number of ports after its port, as in 49170/2 (RFC 8866, section 5.14). sdp-transform finds no media
# type, port and codec in such a line, reports no error, and writes a description that no telephone can read. sdp cuts a
# parameter at its second equals sign: sprop-parameter-sets of H.264 is base64 (RFC 6184, section 8.1), so the picture of a video
# call has lost parts of its parameters. Programs that change a description have to check what they write.
#
# Output:
#   read: m=audio 49170/2 RTP/AVP 0
#   sdp-transform writes: m=undefined NaN undefined
#   read: a=fmtp:96 packetization-mode=1;sprop-parameter-sets=Z0IACpZTBYmI,aMljiA==
#   sdp writes: a=fmtp:96 packetization-mode=1;sprop-parameter-sets=Z0IACpZTBYmI,aMljiA
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund sdp-transform@3.0.0 sdp@3.2.2
cat >run.mjs <<'PROGRAM'
import assert from "node:assert/strict"
import sdp from "sdp"
import * as transform from "sdp-transform"

const description = (media) =>
  ["v=0", "o=- 1 1 IN IP4 192.0.2.5", "s=-", "c=IN IP4 192.0.2.5", "t=0 0", media, "a=rtpmap:0 PCMU/8000", ""].join("\r\n")
const written = (media) => transform.write(transform.parse(description(media))).split("\r\n")[5].trim()
assert.equal(written("m=audio 49170 RTP/AVP 0"), "m=audio 49170 RTP/AVP 0")
const media = "m=audio 49170/2 RTP/AVP 0"
console.log(`read: ${media}\nsdp-transform writes: ${written(media)}`)
assert.equal(written(media), "m=undefined NaN undefined")

const format = "a=fmtp:96 packetization-mode=1;sprop-parameter-sets=Z0IACpZTBYmI,aMljiA=="
const rewritten = sdp.writeFmtp({ payloadType: 96, parameters: sdp.parseFmtp(format) }).trim()
console.log(`read: ${format}\nsdp writes: ${rewritten}`)
assert.equal(rewritten, format.replace("==", ""))
PROGRAM
node run.mjs
