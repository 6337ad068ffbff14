import { describe, expect, it } from "vitest"
import { makeFaultPlan } from "../../src/shared/FaultPlan.ts"

describe("FaultPlan", () => {
  it("applies faults in order, each as often as planned", () => {
    const plan = makeFaultPlan<"verify" | "settle">()
    plan.add({ operation: "settle", mode: "after", times: 2 })
    plan.add({ operation: "verify", mode: "reject", times: 1 })
    plan.add({ operation: "settle", mode: "before", times: 1 })
    expect([1, 2, 3, 4].map(() => plan.take("settle", []))).toEqual(["after", "after", "before", undefined])
    expect([1, 2].map(() => plan.take("verify", []))).toEqual(["reject", undefined])
  })

  it("applies a fault only to its subject, and others to the remaining requests", () => {
    const plan = makeFaultPlan<"verify" | "settle">()
    plan.add({ operation: "settle", mode: "hang", times: 1, only: "0xAB" })
    plan.add({ operation: "settle", mode: "reject", times: 1 })
    expect(plan.take("settle", ["0xcd"])).toBe("reject")
    expect(plan.take("settle", ["0xcd"])).toBeUndefined()
    expect(plan.take("verify", ["0xab"])).toBeUndefined()
    expect(plan.take("settle", ["0xcd", "0xab"])).toBe("hang")
    expect(plan.list()).toEqual([])
  })

  it("lists the remaining faults, and clears them", () => {
    const plan = makeFaultPlan<"verify" | "settle">()
    plan.add({ operation: "settle", mode: "hang", times: 3 })
    plan.take("settle", [])
    expect(plan.list()).toEqual([{ operation: "settle", mode: "hang", times: 2 }])
    plan.clear()
    expect(plan.list()).toEqual([])
    expect(plan.take("settle", [])).toBeUndefined()
  })
})
