import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { json } from "node:stream/consumers"
import { assert, describe, it, onTestFinished } from "vitest"
import { sandboxClient } from "../../src/chain/SandboxNetwork.ts"

describe("the client of a sandbox chain", () => {
  it("reads again if the connection ends before the answer, and repeats nothing else", async () => {
    const methods: Array<string> = []
    const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
      const { id, method } = (await json(request)) as { readonly id: number; readonly method: string }
      methods.push(method)
      // The first request of each method gets no answer.
      if (methods.filter((other) => other === method).length === 1) return void request.socket.destroy()
      response.setHeader("content-type", "application/json").end(JSON.stringify({ jsonrpc: "2.0", id, result: "0x7" }))
    }
    const node = createServer((request, response) => void answer(request, response))
    await new Promise<void>((resolve) => node.listen(0, "127.0.0.1", resolve))
    onTestFinished(() => void node.close())
    const client = sandboxClient(`http://127.0.0.1:${(node.address() as AddressInfo).port}`)
    assert.strictEqual(await client.getBlockNumber(), 7n)
    const failure = await client.mine({ blocks: 1 }).catch((error: unknown) => error)
    assert.instanceOf(failure, Error)
    assert.deepStrictEqual(methods, ["eth_blockNumber", "eth_blockNumber", "anvil_mine"])
  })
})
