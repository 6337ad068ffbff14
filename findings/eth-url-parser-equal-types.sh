#!/usr/bin/env bash
# eth-url-parser 1.0.4 writes another link than it read, if a function has two arguments of one type, as transferFrom has.
#
# EIP-681 names each argument by its type, so a link to transferFrom has the parameter address twice. The package reads the two
# as one list, and writes "address[0]" and "address[1]", which name no type, so a wallet refuses the link or calls another
# function. It also leaves the exponent of gasPrice in the text, where it expands that of value.
#
# Output:
#   address=0x857b06519E91e3A54538791bDbb0E22373e36b66&uint256=1
#     read {"address":"0x857b06519E91e3A54538791bDbb0E22373e36b66","uint256":"1"}
#     written address=0x857b06519E91e3A54538791bDbb0E22373e36b66&uint256=1
#   address=0x857b06519E91e3A54538791bDbb0E22373e36b66&address=0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913&uint256=1
#     read {"address":["0x857b06519E91e3A54538791bDbb0E22373e36b66","0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913"],"uint256":"1"}
#     written address%5B0%5D=0x857b06519E91e3A54538791bDbb0E22373e36b66&address%5B1%5D=0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913&uint256=1
#   value=1e9&gasPrice=30e9
#     read {"value":"1000000000","gasPrice":"30e9"}
#     written value=1e9&gasPrice=30e9
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund eth-url-parser@1.0.4
cat >run.mjs <<'PROGRAM'
import { build, parse } from "eth-url-parser"
import assert from "node:assert/strict"

const show = (parameters, ...expected) => {
  const link = "ethereum:0x779Ded0c9e1022225f8E0630b35a9b54bE713736@196/transferFrom?"
  const read = parse(link + parameters)
  const seen = [JSON.stringify(read.parameters), build(read).slice(link.length)]
  console.log(`${parameters}\n  read ${seen[0]}\n  written ${seen[1]}`)
  assert.deepEqual(seen, expected)
}
const [from, to] = ["0x857b06519E91e3A54538791bDbb0E22373e36b66", "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913"]
show(`address=${from}&uint256=1`, `{"address":"${from}","uint256":"1"}`, `address=${from}&uint256=1`)
const list = `{"address":["${from}","${to}"],"uint256":"1"}`
show(`address=${from}&address=${to}&uint256=1`, list, `address%5B0%5D=${from}&address%5B1%5D=${to}&uint256=1`)
show("value=1e9&gasPrice=30e9", '{"value":"1000000000","gasPrice":"30e9"}', "value=1e9&gasPrice=30e9")
PROGRAM
node run.mjs
