import * as Schema from "effect/Schema"
import { setTimeout as sleep } from "node:timers/promises"
import { sandboxClient } from "../chain/SandboxNetwork.ts"
import { decodeJson, HttpError, ok, readJson, type Routes } from "../shared/JsonServer.ts"
import { readOffset, writeOffset } from "../shared/ClockFile.ts"
import { SHIFTED_WITHIN_MILLIS } from "./shiftedDate.ts"

/** The clock of a sandbox whose time can be moved. */
export interface SandboxClock {
  readonly file: string
  /** The JSON-RPC URL of each chain. */
  readonly rpcUrls: ReadonlyArray<string>
  /** The URL at which the server says whether it is ready. */
  readonly readyUrl: string
}

const DAY_SECONDS = 86_400
/** Certificates and signatures of the sandbox are valid for longer. */
const AHEAD_DAYS_MAX = 365

const Move = Schema.Struct({
  advanceSeconds: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: AHEAD_DAYS_MAX * DAY_SECONDS }))
})

/** How long a server may take to compare its clock with the chain's again. */
const READY_WITHIN_MILLIS = 40_000
const READY_POLL_MILLIS = 100

/**
 * `GET /sandbox/clock` returns the time of the sandbox. `POST /sandbox/clock` moves it forward, on each chain and in every
 * process, and answers when the server is ready again.
 */
export const clockRoutes = (clock: SandboxClock | undefined): Routes => {
  const timeOf = (offsetMillis: number, at = Date.now()) =>
    ok({ now: new Date(at).toISOString(), offsetSeconds: offsetMillis / 1_000 })
  return {
    "/sandbox/clock": {
      GET: async () => timeOf(clock === undefined ? 0 : readOffset(clock.file)),
      POST: async (request) => {
        if (clock === undefined)
          throw new HttpError(409, "Only the time of a sandbox with its embedded database can be moved.")
        const { advanceSeconds } = decodeJson(Move, await readJson(request), {})
        const offsetMillis = readOffset(clock.file) + advanceSeconds * 1_000
        if (offsetMillis > AHEAD_DAYS_MAX * DAY_SECONDS * 1_000)
          throw new HttpError(
            422,
            `The time of a sandbox can be at most ${AHEAD_DAYS_MAX} days ahead. Start a new one.`
          )
        const clients = clock.rpcUrls.map((rpcUrl) => sandboxClient(rpcUrl))
        // Not only one of them may be moved.
        await Promise.all(clients.map((client) => client.getBlockNumber())).catch(() => {
          throw new HttpError(503, "The chain is unavailable. The time was not moved.")
        })
        await Promise.all(
          clients.map(async (client) => {
            await client.increaseTime({ seconds: advanceSeconds })
            await client.mine({ blocks: 1 })
          })
        )
        await writeOffset(clock.file, offsetMillis)
        await sleep(2 * SHIFTED_WITHIN_MILLIS)
        await readiness(clock.readyUrl)
        return timeOf(offsetMillis)
      }
    }
  }
}

/** Waits until the server says that it is ready, which it is not while its clock and the chain's differ. */
const readiness = async (readyUrl: string): Promise<void> => {
  const deadline = performance.now() + READY_WITHIN_MILLIS
  for (;;) {
    const isReady = await fetch(readyUrl).then(
      async (response) => (await response.text(), response.ok),
      () => false
    )
    if (isReady) return
    if (performance.now() > deadline) throw new HttpError(503, "The time was moved, but the server is not ready.")
    await sleep(READY_POLL_MILLIS)
  }
}
