import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { once } from "node:events"
import { createServer, type RequestListener } from "node:http"
import type { AddressInfo } from "node:net"
import { admission, fetchWithin } from "../src/Traces.ts"

describe("admission", () => {
  it("admits one in so many of the traces that begin here", () => {
    const admits = admission(3, () => 0)
    assert.deepStrictEqual(
      Array.from({ length: 7 }, () => admits(false)),
      [true, false, false, true, false, false, true]
    )
  })

  it("admits those of others, at most 100 in a second", () => {
    let now = 0
    const admits = admission(1_000, () => now)
    const admitted = () => Array.from({ length: 150 }, () => admits(true)).filter(Boolean).length
    assert.deepStrictEqual([admitted(), admitted()], [100, 0])
    now = 1_000
    assert.strictEqual(admitted(), 100)
  })
})

describe("a receiver", () => {
  const listening = (answer: RequestListener) =>
    Effect.acquireRelease(
      Effect.promise(async () => {
        const server = createServer(answer)
        await once(server.listen(0, "127.0.0.1"), "listening")
        return server
      }),
      (server) => Effect.sync(() => server.close().closeAllConnections())
    )

  it.live.each<readonly [string, RequestListener]>([
    ["does not answer", () => undefined],
    ["does not end its answer", (_request, response) => void response.writeHead(200).write("{")]
  ])("that %s is given up after a time, so that requests to it do not pile up", ([, answer]) =>
    Effect.gen(function* () {
      const { port } = (yield* listening(answer)).address() as AddressInfo
      const asking = fetchWithin(100)(`http://127.0.0.1:${port}/v1/traces`, { method: "POST", body: "{}" })
      const answered = asking.then((response) => response.arrayBuffer())
      const failure = yield* Effect.promise(() => answered.catch((error: unknown) => error))
      assert.propertyVal(failure, "name", "TimeoutError")
    }).pipe(Effect.scoped)
  )
})
