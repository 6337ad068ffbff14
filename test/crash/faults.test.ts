import { fileURLToPath } from "node:url"
import { describe, expect, it } from "vitest"
import { execute } from "../support/ClusterDatabase.ts"
import { CrashRig, type RigOptions } from "./CrashRig.ts"
import { violationsOf } from "./Report.ts"
import {
  cancelledBeforeSettling,
  killedAfterCarrier,
  killedAfterRefund,
  lostDial,
  lostSettlement,
  mailPutOff,
  oneProofManyKeys,
  play,
  type Scenario
} from "./Scenario.ts"

/** A broken server never gets to an end. What the real one does in the same situations, the matrix shows. */
const BROKEN_MILLIS_MAX = 8_000

const server = (name: string): string => fileURLToPath(new URL(`fault/${name}Main.ts`, import.meta.url))

const violations = async (options: RigOptions, scenario: Scenario): Promise<ReadonlyArray<string>> => {
  const rig = await CrashRig.start(options)
  try {
    return violationsOf(await play(rig, scenario, BROKEN_MILLIS_MAX))
  } finally {
    await rig.stop()
  }
}

const database = "pglite" as const
const MILLIS_MAX = 600_000

// They wait beside each other.
describe.concurrent("the checker notices a server", () => {
  it(
    "that takes a facilitator's silence for a refusal, and lets its client pay again",
    async () => {
      const found = await violations({ database, server: server("refusedOnTimeout") }, lostSettlement)
      expect(found).toContainEqual(expect.stringContaining("charged, and neither delivered nor paid back"))
    },
    MILLIS_MAX
  )

  it(
    "that takes a used nonce for a payment",
    async () => {
      const found = await violations({ database, server: server("usedNonceIsPaid") }, cancelledBeforeSettling)
      expect(found).toContainEqual(expect.stringContaining("delivered, and never charged"))
    },
    MILLIS_MAX
  )

  it(
    "that writes a mail down as sent without the relay's word",
    async () => {
      const found = await violations({ database, server: server("sentWithoutReply") }, mailPutOff)
      expect(found).toContainEqual(expect.stringContaining("told that it was delivered, and it is not there"))
    },
    MILLIS_MAX
  )

  it(
    "that pays back under another nonce each time",
    async () => {
      const found = await violations({ database, server: server("freshRefundNonce") }, killedAfterRefund)
      expect(found).toContainEqual(expect.stringContaining("times more than was owed"))
    },
    MILLIS_MAX
  )

  it(
    "that dials again when the carrier's answer was lost",
    async () => {
      const found = await violations({ database, server: server("dialsAgain") }, lostDial)
      expect(found).toContainEqual(expect.stringContaining("delivered 2 times"))
    },
    MILLIS_MAX
  )

  it(
    "that begins anew with a number that it had chosen, and with an extension that it had granted",
    async () => {
      const found = await violations({ database, server: server("beginsAnew") }, killedAfterCarrier)
      expect(found).toContainEqual(expect.stringContaining("is sold, and nobody's"))
      expect(found).toContainEqual(expect.stringContaining("delivered 2 times"))
    },
    MILLIS_MAX
  )

  it(
    "whose database does not keep a proof unique",
    async () => {
      const prepareDatabase = async (url: string): Promise<void> => {
        await execute(url, "alter table operations drop constraint operations_proof_key")
      }
      const found = await violations({ database: "postgres", prepareDatabase }, oneProofManyKeys)
      expect(found).toContainEqual(expect.stringMatching(/delivered [2-9] times/))
    },
    MILLIS_MAX
  )
})
