#!/usr/bin/env bash
# dmarc-parse 1.2.1 and dmarc-solution 1.2.5 refuse parts of valid DMARC records: several options for reports, and sizes of
# reports.
#
# The tag fo is a list of options with colons between them, and an address for reports may have a largest size behind an
# exclamation mark (RFC 7489, sections 6.3 and 6.2). dmarc-parse leaves fo out of its result; the other throws for the whole
# record, though such sizes are common.
#
# Output:
#   v=DMARC1; p=none; fo=1
#     dmarc-parse v p fo
#     dmarc-solution v p fo
#   v=DMARC1; p=none; fo=1:d
#     dmarc-parse v p (Invalid value for 'fo': '1:d', must be one of: 0, 1, d, s)
#     dmarc-solution v p fo
#   v=DMARC1; p=none; rua=mailto:a@a.example!10m
#     dmarc-parse v p rua
#     dmarc-solution throws "Invalid email address in 'rua': 'a@a.example!10m'"
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --ignore-scripts dmarc-parse@1.2.1 dmarc-solution@1.2.5
cat >run.mjs <<'PROGRAM'
import assert from "node:assert/strict"
import parse from "dmarc-parse"
import solution from "dmarc-solution"

const show = async (record, ...expected) => {
  const { tags, messages = [] } = parse(record)
  const first = `${Object.keys(tags).join(" ")}${messages.map((each) => ` (${each})`).join("")}`
  const second = await Promise.resolve(record)
    .then(solution.parse)
    .then(
      (found) => Object.keys(found).join(" "),
      (error) => `throws "${error.message ?? error}"`
    )
  console.log(`${record}\n  dmarc-parse ${first}\n  dmarc-solution ${second}`)
  assert.deepEqual([first, second], expected)
}
await show("v=DMARC1; p=none; fo=1", "v p fo", "v p fo")
await show("v=DMARC1; p=none; fo=1:d", "v p (Invalid value for 'fo': '1:d', must be one of: 0, 1, d, s)", "v p fo")
const sized = "v=DMARC1; p=none; rua=mailto:a@a.example!10m"
await show(sized, "v p rua", "throws \"Invalid email address in 'rua': 'a@a.example!10m'\"")
PROGRAM
node run.mjs
