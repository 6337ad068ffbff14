import { expect, it } from "vitest"
import type { DefectName } from "../faults/server/Defects.ts"
import { invariantsOf } from "../faults/verdict/Judge.ts"
import { linesOf } from "../faults/verdict/Report.ts"
import { makeRandom, testSeed } from "../support/Random.ts"
import { runMailKills } from "./MailKills.ts"
import { Shop } from "./Shop.ts"

const SEED = testSeed()
const MAILS = 46
const TIMEOUT_MILLIS = 240_000
const SETTLE_MILLIS_MAX = 5_000

it(
  `each mail that was answered with 250 ends as a message or a report while the server is killed (seed ${SEED})`,
  () =>
    Shop.with({ database: "postgres" }, async (shop) => {
      const options = { random: makeRandom(SEED), mails: MAILS, hasLeases: false }
      const { figures, kills, violations } = await runMailKills(shop, options)
      console.log(figures.join("\n"))
      expect(linesOf(violations)).toEqual([])
      expect(kills).toBeGreaterThan(0)
    }),
  TIMEOUT_MILLIS
)

it.each<[DefectName]>([["accepts mail before it is stored"], ["drops automatic replies"]])(
  "rejects a server that %s",
  (defect) =>
    Shop.with({ database: "postgres", defect }, async (shop) => {
      const options = { random: makeRandom(SEED), mails: MAILS, hasLeases: false, settleMillisMax: SETTLE_MILLIS_MAX }
      const { violations } = await runMailKills(shop, options)
      expect(invariantsOf(violations)).toContain("a mail that was answered with 250 ends as a message or a report")
    }),
  TIMEOUT_MILLIS
)
