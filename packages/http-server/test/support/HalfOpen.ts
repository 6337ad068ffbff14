import type { Socket } from "node:net"
import { setTimeout as sleep } from "node:timers/promises"

/** How long a server may keep a connection that it has answered for the last time, in milliseconds. */
const KEPT_AT_MOST = 4_000

/** What becomes of a connection of which this end ends nothing. Whoever writes to one that is gone is told so. */
export const fateOf = async (socket: Socket): Promise<"gone" | "kept"> => {
  const gone = new Promise<"gone">((resolve) => socket.once("close", () => resolve("gone")))
  const writing = setInterval(() => socket.write("x"), 20)
  try {
    return await Promise.race([gone, sleep(KEPT_AT_MOST, "kept" as const)])
  } finally {
    clearInterval(writing)
  }
}
