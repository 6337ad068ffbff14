import { describe, expect, it } from "vitest"
import { RELEASES } from "./Release.ts"
import { upgrade } from "./Upgrade.ts"

describe("an upgrade under load", () => {
  it.each(RELEASES)(
    "from %s and back, with both programs on the new schema, loses no request, event, purchase or row",
    async (version) => {
      const steps = [
        ["current", "released"],
        ["released", "current"]
      ] as const
      const { continued, counts, problems } = await upgrade(version, { steps, work: 4 })
      expect(problems).toEqual([])
      expect(counts.purchases).toBeGreaterThanOrEqual(16)
      expect(continued).toEqual({
        claimed: "unpaid",
        settling: "fulfilled",
        settled: "fulfilled",
        fulfilling: "fulfilled",
        refused: "unpaid",
        refund_due: "refunded"
      })
    }
  )
})
