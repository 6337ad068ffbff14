import { expect, it } from "vitest"
import { makeRandom } from "../race/Random.ts"
import { CrashRig } from "./CrashRig.ts"
import { runRandomKills } from "./RandomKills.ts"
import { endsOf, violationsOf } from "./Report.ts"
import { END_MILLIS_MAX } from "./Witness.ts"

const SECONDS = 20
const CLIENTS = 6
const RUN_MILLIS_MAX = 600_000

it(
  "a server killed at random under load charges once or pays back",
  async () => {
    const seed = Math.floor(Math.random() * 2 ** 31)
    console.log(`seed ${seed}`)
    const rig = await CrashRig.start({ database: "pglite" })
    try {
      const { kills, outcome } = await runRandomKills(rig, {
        random: makeRandom(seed),
        seconds: SECONDS,
        clients: CLIENTS
      })
      console.log(`${kills} kills, ${endsOf(outcome.verdicts)}, ${outcome.duplicates} second copies of a mail`)
      expect(kills).toBeGreaterThan(0)
      expect(violationsOf(outcome)).toEqual([])
      expect(outcome.endMillis).toBeLessThan(END_MILLIS_MAX)
    } catch (error) {
      console.log(await rig.serverComplaints())
      throw error
    } finally {
      await rig.stop()
    }
  },
  RUN_MILLIS_MAX
)
