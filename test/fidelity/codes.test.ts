import { describe, expect, it } from "vitest"
import { LABELED_MAILS } from "./codes/LabeledMails.ts"
import { ownScore, RECORDS } from "./codes/Score.ts"

const RIGHT_MIN = 0.97

describe("the labeled set of codes and links", () => {
  it("has 200 mails in 15 languages, and a quarter without a code", () => {
    expect(RECORDS.length).toBeGreaterThanOrEqual(200)
    expect(new Set(RECORDS.map(({ language }) => language)).size).toBeGreaterThanOrEqual(15)
    expect(RECORDS.filter(({ code }) => code === null).length).toBeGreaterThanOrEqual(RECORDS.length / 4)
    expect(new Set(RECORDS.map(({ form, language }) => `${language} ${form}`)).size).toBe(RECORDS.length)
  })

  describe.each([
    ["as records have them", RECORDS],
    ["without the text that HTML shows", LABELED_MAILS]
  ] as const)("%s", (_, mails) => {
    it.each(["code", "link"] as const)("gives no wrong %s, and at least 97 % are right", (part) => {
      const { right, wrong } = ownScore(part, mails)
      expect(wrong).toEqual([])
      expect(right).toBeGreaterThanOrEqual(RIGHT_MIN * mails.length)
    })
  })
})
