import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { decodeFunctionData, hashTypedData, numberToHex } from "viem"
import { PERMIT2_ADDRESS, permit2WitnessTypes, x402ExactPermit2ProxyABI, x402ExactPermit2ProxyAddress } from "@x402/evm"
import { digest, permit2Separator, settleData } from "../../../src/method/permit2/PermitTransfer.ts"
import { PERMIT2, PERMIT2_PROXY } from "../../../src/network/Permit2Address.ts"
import { asset, payer, payTo, SEED } from "../../support/Sample.ts"

const Uint = (bits: bigint) => Schema.BigInt.check(Schema.isBetweenBigInt({ minimum: 0n, maximum: 2n ** bits - 1n }))

describe("PermitTransfer", () => {
  it("has the addresses of the library", () => {
    assert.deepStrictEqual([PERMIT2, PERMIT2_PROXY], [PERMIT2_ADDRESS, x402ExactPermit2ProxyAddress])
  })

  it.prop(
    "hashes and encodes as the library signs and settles",
    { value: Uint(256n), validAfter: Uint(64n), validBefore: Uint(64n), nonce: Uint(256n), chainId: Uint(48n) },
    ({ chainId, nonce, validAfter, validBefore, value }) => {
      const to = payTo
      const transfer = {
        from: payer.address,
        to,
        value,
        validAfter,
        validBefore,
        nonce: numberToHex(nonce, { size: 32 })
      } as const
      const permitted = { token: asset, amount: value } as const
      const expected = hashTypedData({
        domain: { name: "Permit2", chainId, verifyingContract: PERMIT2_ADDRESS },
        types: permit2WitnessTypes,
        primaryType: "PermitWitnessTransferFrom",
        message: { permitted, spender: PERMIT2_PROXY, nonce, deadline: validBefore, witness: { to, validAfter } }
      })
      assert.strictEqual(digest(permit2Separator(chainId), asset, transfer), expected)
      const { args, functionName } = decodeFunctionData({
        abi: x402ExactPermit2ProxyABI,
        data: settleData(asset, transfer, "0xab")
      })
      assert.strictEqual(functionName, "settle")
      assert.deepStrictEqual<unknown>(args, [
        { permitted, nonce, deadline: validBefore },
        payer.address,
        { to, validAfter },
        "0xab"
      ])
    },
    { arbitrary: { seed: SEED } }
  )
})
