import { assert, describe, it } from "@effect/vitest"
import { HttpRequestError, RpcRequestError, TimeoutError } from "viem"
import { type BroadcastRefusal, kindOf, refusalIn } from "../../src/self/NodeRefusal.ts"

const url = "https://node.test/v2/very-secret-key"
const rpc = (message: string, code = -32_000) => new RpcRequestError({ body: {}, url, error: { code, message } })

/** Error messages of nodes, from their sources. */
const refusals: ReadonlyArray<readonly [node: string, message: string, refusal: BroadcastRefusal]> = [
  ["geth", "already known", "AlreadyKnown"],
  ["anvil", "transaction already imported", "AlreadyKnown"],
  ["nethermind", "AlreadyKnown", "AlreadyKnown"],
  ["besu", "Known transaction", "AlreadyKnown"],
  ["geth", "nonce too low: next nonce 5, tx nonce 3", "NonceTooLow"],
  ["nethermind", "OldNonce, Current nonce: 5, nonce of rejected tx: 3.", "NonceTooLow"],
  ["geth", "replacement transaction underpriced", "Underpriced"],
  ["geth", "transaction underpriced: tip needed 1000000000, tip permitted 1", "Underpriced"],
  ["geth", "max fee per gas less than block base fee: address 0x1, maxFeePerGas: 1, baseFee: 7", "Underpriced"],
  ["nethermind", "FeeTooLow, EffectivePriorityFeePerGas too low", "Underpriced"],
  ["anvil", "max fee per gas less than block base fee", "Underpriced"],
  ["geth", "insufficient funds for gas * price + value: balance 0, tx cost 1", "InsufficientFunds"],
  ["anvil", "Insufficient funds for gas * price + value", "InsufficientFunds"],
  ["besu", "Upfront cost exceeds account balance", "InsufficientFunds"],
  ["geth", "txpool is full", "Unclear"],
  ["a gateway", "daily request count exceeded", "Unclear"]
]

describe("refusalIn", () => {
  it.each(refusals)("recognizes %s with the message %s", (_node, message, refusal) => {
    assert.strictEqual(refusalIn(rpc(message)), refusal)
  })

  it("treats no answer as Unclear", () => {
    assert.strictEqual(refusalIn(new TimeoutError({ body: {}, url })), "Unclear")
    assert.strictEqual(refusalIn(new HttpRequestError({ url, status: 503 })), "Unclear")
    assert.strictEqual(refusalIn("already known"), "Unclear")
  })
})

describe("kindOf", () => {
  it("does not reveal the node's URL", () => {
    assert.strictEqual(kindOf(new HttpRequestError({ url, status: 503 })), "HttpRequestError 503")
    for (const error of [rpc(url), new TimeoutError({ body: {}, url }), new Error(url), url]) {
      assert.notInclude(kindOf(error), "very-secret-key")
    }
  })
})
