#!/usr/bin/env bash
# espeak-ng 1.51 (Debian 12, 1.51+dfsg-10+deb12u2) does not speak text that SSML has in a CDATA section.
#
# Such a section is text (XML 1.0, section 2.7), and programs use it for words that they did not write, since it needs no
# escapes. The program leaves it out, without an error: a call speaks the sentence without the name. The same words with escapes
# are spoken.
#
# Output, in the program's names of sounds:
#   <speak>Call Tom &amp; Al now</speak>: k'O:l t'0m _and 'al n'aU
#   <speak>Call <![CDATA[Tom & Al]]> now</speak>: k'O:l n'aU
set -euo pipefail
command -v apt-get >/dev/null || { echo "skipped: this needs apt-get of Debian 12"; exit 0; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
version=1.51+dfsg-10+deb12u2
# Into this folder only: nothing is installed.
apt-get -o APT::Sandbox::User=root -qq download espeak-ng=$version espeak-ng-data=$version libespeak-ng1=$version libpcaudio0 libsonic0 ||
  { echo "skipped: apt has no espeak-ng $version"; exit 0; }
for package in *.deb; do dpkg-deb -x "$package" .; done
libraries=("$folder"/usr/lib/*-linux-gnu)
export LD_LIBRARY_PATH=${libraries[0]} ESPEAK_DATA_PATH=${libraries[0]}
cat >run.mjs <<'PROGRAM'
import assert from "node:assert/strict"
import { execFileSync } from "node:child_process"

const show = (text, expected) => {
  const spoken = execFileSync("usr/bin/espeak-ng", ["-m", "-q", "-x", text], { encoding: "utf8" }).trim()
  console.log(`${text}: ${spoken}`)
  assert.equal(spoken, expected)
}
show("<speak>Call Tom &amp; Al now</speak>", "k'O:l t'0m _and 'al n'aU")
show("<speak>Call <![CDATA[Tom & Al]]> now</speak>", "k'O:l n'aU")
PROGRAM
node run.mjs
