import type { Socket } from "node:net"
import { setTimeout as sleep } from "node:timers/promises"

/** How long a server may keep a connection after its last response, in milliseconds. */
const KEPT_AT_MOST = 4_000

/**
 * Returns whether the server closes a connection that this side keeps open. Writes repeatedly, because a write reveals
 * a closed connection.
 */
export const fateOf = async (socket: Socket): Promise<"gone" | "kept"> => {
  const gone = new Promise<"gone">((resolve) => socket.once("close", () => resolve("gone")))
  const writing = setInterval(() => socket.write("x"), 20)
  try {
    return await Promise.race([gone, sleep(KEPT_AT_MOST, "kept" as const)])
  } finally {
    clearInterval(writing)
  }
}
