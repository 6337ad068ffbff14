import { once } from "node:events"
import { createServer } from "node:net"
import { setTimeout as sleep } from "node:timers/promises"
import type { TestbedOptions } from "../faults/server/Testbed.ts"

/** A database whose outage begins and ends on demand. */
export interface Outage {
  readonly testbed: TestbedOptions
  readonly begin: () => Promise<void> | void
  /** Whether the cause is over at once: what follows is the recovery. */
  readonly isMomentary?: boolean
  /** Resolves when the cause has ended. */
  readonly end: () => Promise<void> | void
  readonly stop: () => Promise<void>
}

/** Why an outage can't be caused on this machine. */
export type Missing = string

/** The account of servers that refuse to run as root. */
export const ACCOUNT = "nobody"

export const isRoot = (): boolean => process.getuid?.() === 0

export const urlOf = (port: number): string => `postgres://postgres@127.0.0.1:${port}/postgres`

export const freePort = async (): Promise<number> => {
  const server = createServer().listen(0, "127.0.0.1")
  await once(server, "listening")
  const address = server.address()
  server.close()
  if (typeof address !== "object" || address === null) throw new Error("no free port")
  return address.port
}

export const until = async (attempt: () => Promise<unknown>): Promise<void> => {
  for (let tries = 0; ; tries++) {
    try {
      await attempt()
      return
    } catch (error) {
      if (tries > 200) throw error
      await sleep(100)
    }
  }
}
