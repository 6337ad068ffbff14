import { ask } from "../../src/command-line/Prompt.ts"
import { afterEach, assert, describe, it, vi } from "vitest"

/** Records the terminal of this process while a question is answered with these keys. */
const asking = async (question: string, hidden: boolean, keys: string) => {
  const happened: Array<string> = []
  const { stderr, stdin } = process
  const asTerminal = { isTTY: true, setRawMode: (on: boolean) => void happened.push(on ? "raw" : "cooked") }
  const before = Object.fromEntries(Object.keys(asTerminal).map((name) => [name, Reflect.get(stdin, name) as unknown]))
  Object.assign(stdin, asTerminal)
  vi.spyOn(stderr, "write").mockImplementation((text) => happened.push(String(text)) > 0)
  try {
    const answer = ask(question, { hidden }, new AbortController())
    const asked = [...happened]
    for (const key of keys) stdin.emit("data", Buffer.from(key))
    return { asked, answer: await answer, happened }
  } finally {
    Object.assign(stdin, before)
  }
}

afterEach(() => void vi.restoreAllMocks())

describe("ask", () => {
  it("prints a hidden question after the echo is off", async () => {
    const { answer, asked, happened } = await asking("Password: ", true, "secret\r")
    assert.deepStrictEqual(asked, ["raw", "Password: "])
    assert.strictEqual(answer, "secret")
    assert.notInclude(happened.join(""), "secret")
  })

  it("prints the question again when a typed character is deleted", async () => {
    const { answer, asked, happened } = await asking("Pay 0.25 USDT? [y/N] ", false, "n\u007fy\r")
    assert.strictEqual(asked[0], "raw")
    assert.strictEqual(answer, "y")
    assert.lengthOf(
      happened.filter((text) => text.includes("Pay 0.25 USDT? [y/N] ")),
      2
    )
  })
})
