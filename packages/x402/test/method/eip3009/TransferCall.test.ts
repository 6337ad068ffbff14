import { assert, describe, it } from "@effect/vitest"
import { encodeFunctionData, type Hex, parseAbi } from "viem"
import { transferCall } from "../../../src/method/eip3009/TransferCall.ts"
import { TRANSFER_GAS_MAX } from "../../../src/network/SimulatedCall.ts"

const abi = parseAbi([
  "function transferWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, uint8 v, bytes32 r, bytes32 s)"
])
const asset = "0x5555555555555555555555555555555555555555"
const message = {
  from: "0x00000000000000000000000000000000000000aa",
  to: "0x70997970c51812dc3a010c7d01b50e0d17dc79c8",
  value: 10n ** 30n,
  validAfter: 0n,
  validBefore: 1_900_000_000n,
  nonce: `0x${"0c".repeat(32)}`
} as const
const [r, s]: readonly [Hex, Hex] = [`0x${"1f".repeat(32)}`, `0x${"2e".repeat(32)}`]

describe("transferCall", () => {
  it.each([
    ["1b", 27],
    ["1c", 28],
    ["00", 27],
    ["01", 28]
  ])("encodes the transfer as its ABI does, for a signature that ends in %s", (last, v) => {
    const { from, nonce, to, validAfter, validBefore, value } = message
    const data = encodeFunctionData({ abi, args: [from, to, value, validAfter, validBefore, nonce, v, r, s] })
    assert.deepStrictEqual(transferCall(asset, message, `${r}${s.slice(2)}${last}`), {
      to: asset,
      data,
      gas: TRANSFER_GAS_MAX
    })
  })
})
