import { assert, describe, it } from "@effect/vitest"
import { setImmediate as turn } from "node:timers/promises"
import { FRAMES_PER_TURN, FrameTurns } from "../../src/realtime/FrameTurns.ts"

/** A socket with frames to pass on, which continues when it is resumed. */
const socketWith = (turns: FrameTurns, tenantId: string, frames: number) => {
  const socket = {
    passed: 0,
    pause: () => undefined,
    resume: () => {
      while (socket.passed < frames && turns.take(tenantId, socket)) socket.passed++
    }
  }
  return socket
}

describe("FrameTurns", () => {
  it("gives all sockets of a tenant together so many frames in each turn of the event loop, and each its turn", async () => {
    const turns = new FrameTurns()
    const sockets = Array.from({ length: 5 }, () => socketWith(turns, "a", 3 * FRAMES_PER_TURN))
    const passed = () => sockets.map((socket) => socket.passed / FRAMES_PER_TURN)
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
    const turns = new FrameTurns()
    const sockets = ["a", "b"].map((tenantId) => socketWith(turns, tenantId, FRAMES_PER_TURN))
    for (const socket of sockets) socket.resume()
    assert.deepStrictEqual(
      sockets.map(({ passed }) => passed),
      [FRAMES_PER_TURN, FRAMES_PER_TURN]
    )
  })
})
