#!/usr/bin/env bash
# caip 1.1.1 refuses the asset id of Ether on Ethereum, which CAIP-19 has as an example, and accepts that of Ether on Base.
#
# Before it splits an id, the package looks for 11 characters in a row that a chain id or an asset name may have. The slash is not
# among them. So an id is refused if both of its halves are shorter than that, whatever they say. Ids of tokens pass, since their
# addresses are long. A wallet that reads such ids loses the gas currency of chains with short numbers.
#
# Output:
#   eip155:1/slip44:60: Invalid assetType provided: eip155:1/slip44:60
#   eip155:137/slip44:966: Invalid assetType provided: eip155:137/slip44:966
#   eip155:8453/slip44:60: slip44:60
#   eip155:1/erc20:0xdAC17F958D2ee523a2206206994597C13D831ec7: erc20:0xdAC17F958D2ee523a2206206994597C13D831ec7
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund caip@1.1.1
cat >run.mjs <<'PROGRAM'
import { AssetType } from "caip"
import assert from "node:assert/strict"

const read = (id) => {
  try {
    const { namespace, reference } = AssetType.parse(id).assetName
    return `${namespace}:${reference}`
  } catch (error) {
    return error.message
  }
}
const show = (id, isRefused) => {
  const seen = read(id)
  console.log(`${id}: ${seen}`)
  assert.equal(seen, isRefused ? `Invalid assetType provided: ${id}` : id.slice(id.indexOf("/") + 1))
}
show("eip155:1/slip44:60", true)
show("eip155:137/slip44:966", true)
show("eip155:8453/slip44:60", false)
show("eip155:1/erc20:0xdAC17F958D2ee523a2206206994597C13D831ec7", false)
PROGRAM
node run.mjs
