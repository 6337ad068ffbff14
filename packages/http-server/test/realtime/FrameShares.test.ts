import { assert, describe, it } from "@effect/vitest"
import { setImmediate as turn } from "node:timers/promises"
import { FRAMES_PER_TICK, FrameShares } from "../../src/realtime/FrameMeter.ts"

/** A socket with frames to pass on, which continues when it is resumed. */
const socketWith = (shares: FrameShares, tenantId: string, frames: number) => {
  const socket = {
    passed: 0,
    pause: () => undefined,
    resume: () => {
      while (socket.passed < frames && shares.take(tenantId, socket)) socket.passed++
    }
  }
  return socket
}

describe("FrameShares", () => {
  it("gives all sockets of a tenant together so many frames in each turn of the event loop, and each its turn", async () => {
    const shares = new FrameShares()
    const sockets = Array.from({ length: 5 }, () => socketWith(shares, "a", 3 * FRAMES_PER_TICK))
    const passed = () => sockets.map((socket) => socket.passed / FRAMES_PER_TICK)
    for (const socket of sockets) socket.resume()
    const seen = [passed()]
    for (let index = 0; index < 5; index++) {
      await turn()
      seen.push(passed())
    }
    assert.deepStrictEqual(seen, [
      [1, 0, 0, 0, 0],
      [2, 0, 0, 0, 0],
      [2, 1, 0, 0, 0],
      [2, 1, 1, 0, 0],
      [2, 1, 1, 1, 0],
      [2, 1, 1, 1, 1]
    ])
    while (passed().some((count) => count < 3)) await turn()
  })

  it("takes nothing from other tenants", () => {
    const shares = new FrameShares()
    const sockets = ["a", "b"].map((tenantId) => socketWith(shares, tenantId, FRAMES_PER_TICK))
    for (const socket of sockets) socket.resume()
    assert.deepStrictEqual(
      sockets.map(({ passed }) => passed),
      [FRAMES_PER_TICK, FRAMES_PER_TICK]
    )
  })
})
