#!/usr/bin/env bash
# g711 1.0.1 encodes the quietest negative samples, -1 to -7, as -248 in A-law, so silence becomes noise that a caller hears.
#
# A line that is not quite silent has such samples all the time: a sine of amplitude 2 comes out a hundred times as loud, and
# detectors of speech report a voice. alawmulaw 6.0.0 encodes them as -8, the nearest value of A-law (ITU-T G.711). The mu-law of
# g711 is right, and its decoder of A-law, too.
#
# Output:
#   samples -8 -7 -6 -5 -4 -3 -2 -1 0 1
#   g711: -8 -248 -248 -248 -248 -248 -248 -248 8 8
#   alawmulaw: -8 -8 -8 -8 -8 -8 -8 -8 8 8
#   amplitude 2, root mean square: 1.5; g711: 160.8; alawmulaw: 8.0
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund g711@1.0.1 alawmulaw@6.0.0
cat >run.mjs <<'PROGRAM'
import alawmulaw from "alawmulaw"
import g711 from "g711"
import assert from "node:assert/strict"

const through = {
  g711: (samples) => g711.alawToPCM(g711.alawFromPCM(samples), 16),
  alawmulaw: (samples) => alawmulaw.alaw.decode(alawmulaw.alaw.encode(samples))
}
const samples = Int16Array.from([-8, -7, -6, -5, -4, -3, -2, -1, 0, 1])
console.log(`samples ${samples.join(" ")}`)
for (const [name, expected] of [["g711", -248], ["alawmulaw", -8]]) {
  const decoded = [...through[name](samples)]
  console.log(`${name}: ${decoded.join(" ")}`)
  assert.deepEqual(decoded, [...samples].map((sample) => (sample >= 0 ? 8 : sample > -8 ? expected : -8)))
}
const power = (values) => Math.sqrt(values.reduce((sum, value) => sum + value * value, 0) / values.length).toFixed(1)
const quiet = Int16Array.from({ length: 8000 }, (_, at) => Math.round(2 * Math.sin(at)))
const powers = [quiet, through.g711(quiet), through.alawmulaw(quiet)].map(power)
console.log(`amplitude 2, root mean square: ${powers[0]}; g711: ${powers[1]}; alawmulaw: ${powers[2]}`)
assert.deepEqual(powers, ["1.5", "160.8", "8.0"])
PROGRAM
node run.mjs
