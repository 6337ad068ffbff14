import { assert, describe, it } from "vitest"
import { flagSummary } from "../../src/command-line/HelpText.ts"

describe("flagSummary", () => {
  it("ends with one period, also after a default that is a sentence", () => {
    const summaryWith = (text: string) =>
      flagSummary({ name: "text", type: "text", value: "TEXT", summary: "Text.", default: text })
    assert.strictEqual(summaryWith("Hello"), "Text. Default: Hello.")
    assert.strictEqual(summaryWith("Hello from outside."), "Text. Default: Hello from outside.")
  })
})
