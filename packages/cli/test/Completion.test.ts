import { spawnSync } from "node:child_process"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "vitest"
import { useApiDouble } from "./support/ApiDouble.ts"
import { useProgram } from "./support/Program.ts"

const program = useProgram()
const api = useApiDouble()

const has = (shell: string): boolean => spawnSync(shell, ["-c", "exit 0"]).status === 0

describe("completion", () => {
  for (const shell of ["bash", "zsh", "fish"])
    it.skipIf(!has(shell))(`writes a script that ${shell} can read`, async () => {
      const { code, stdout } = await program.run(["completion", shell])
      const path = join(program.folder(), "script")
      writeFileSync(path, stdout)
      const check = spawnSync(shell, ["-n", path], { encoding: "utf8" })
      assert.deepStrictEqual([code, check.status, check.stderr], [0, 0, ""])
    })

  it("completes in bash itself", async () => {
    const { stdout } = await program.run(["completion", "bash"])
    const script = `agentctl() { "${process.execPath}" "${program.file()}" "$@"; }
${stdout}
COMP_WORDS=(agentctl mail l); COMP_CWORD=2; _agentctl; echo "\${COMPREPLY[*]}"
COMP_WORDS=(agentctl events list --status p); COMP_CWORD=4; _agentctl; echo "\${COMPREPLY[*]}"
COMP_WORDS=(agentctl mail list --mai); COMP_CWORD=3; _agentctl; echo "\${COMPREPLY[*]}"`
    const run = spawnSync("bash", ["-c", script], { encoding: "utf8", env: { PATH: process.env["PATH"] ?? "" } })
    assert.strictEqual(run.stdout, "list\npending\n--mailbox\n", run.stderr)
  })

  it("asks the server for ids", async () => {
    const mailboxId = "0190f3c2-0000-7000-8000-000000000001"
    api.on("GET /api/v1/email/mailboxes/query", { data: { items: [{ mailboxId, address: "ada@agents.test" }] } })
    const env = { AGENTOS_BASE_URL: api.url(), AGENTOS_TOKEN: "at_v1_x" }
    const { stdout } = await program.run(["__complete", "mail", "list", "--mailbox", ""], { env })
    assert.strictEqual(stdout, `${mailboxId}\tada@agents.test\n`)
  })

  it("says nothing where there is no server", async () => {
    const outcome = await program.run(["__complete", "mail", "read", ""])
    assert.deepStrictEqual(outcome, { code: 0, stdout: "", stderr: "" })
  })
})
