import { assert, describe, it } from "vitest"
import { tabSeparatedRecord } from "../../src/command-line/Table.ts"

describe("tabSeparatedRecord", () => {
  it("repeats the label of a field with several lines", () => {
    const fields = [
      ["Server", "https://agentos.example"],
      ["", "AgentOS 0.1.0"],
      ["Token", undefined],
      ["Wallet", "none"]
    ] as const
    assert.strictEqual(
      tabSeparatedRecord(fields),
      "Server\thttps://agentos.example\nServer\tAgentOS 0.1.0\nWallet\tnone\n"
    )
  })
})
