import { assert, describe, it } from "@effect/vitest"
import { HttpRequestError, RpcRequestError, TimeoutError } from "viem"
import { isOutage } from "../src/chain/RpcTransport.ts"

const url = "https://node.test/v2/very-secret-key"
const rpc = (message: string, code = -32_000) => new RpcRequestError({ body: {}, url, error: { code, message } })

describe("isOutage", () => {
  it("distinguishes a chain that says no from one that can't be reached", () => {
    assert.isFalse(isOutage(rpc("execution reverted: authorization is used or canceled", 3)))
    assert.isTrue(isOutage(rpc("limit exceeded", -32_005)))
    assert.isTrue(isOutage(new HttpRequestError({ url, status: 429 })))
    assert.isTrue(isOutage(new TimeoutError({ body: {}, url })))
    assert.isTrue(isOutage(new Error("something else")))
  })
})
