import { assert, describe, it } from "vitest"
import { useApiDouble } from "./support/ApiDouble.ts"
import { useProgram } from "./support/Program.ts"

const program = useProgram()
const api = useApiDouble()

describe("a failure", () => {
  it("names in what is to be run next the profile and the server that were named", async () => {
    const line = ["mailbox", "list", "--profile", "staging", "--base-url", api.url()]
    const { code, stderr } = await program.run([...line, "--json"])
    assert.strictEqual(code, 4)
    const place = `--profile staging --base-url ${api.url()}`
    assert.deepStrictEqual(JSON.parse(stderr).error.next, [
      `agentctl login ${place}`,
      `agentctl mailbox create LOCALPART ${place}`
    ])
    const wrong = await program.run([...line, "--limt"])
    assert.include(wrong.stderr, "Next: agentctl mailbox list --help\n")
  })
})
