import { spawn, spawnSync } from "node:child_process"
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it, vi } from "vitest"
import { useApiDouble } from "./support/ApiDouble.ts"
import { outcomeOf, useProgram } from "./support/Program.ts"

const program = useProgram()
const api = useApiDouble()

const ID = "0190f3c2-0000-7000-8000-000000000001"

const has = (shell: string): boolean => spawnSync(shell, ["-c", "exit 0"]).status === 0
/** The reason for a skipped test, as a part of its title. */
const reason = (shell: string): string => (has(shell) ? "" : ` (${shell} is not installed)`)

describe("completion", () => {
  for (const shell of ["bash", "zsh", "fish"])
    it.skipIf(!has(shell))(`prints a script that ${shell} can parse${reason(shell)}`, async () => {
      const { code, stdout } = await program.run(["completion", shell])
      const path = join(program.folder(), "script")
      writeFileSync(path, stdout)
      const check = spawnSync(shell, ["-n", path], { encoding: "utf8" })
      assert.deepStrictEqual([code, check.status, check.stderr], [0, 0, ""])
    })

  it("offers no word from the server that a shell would interpret", async () => {
    const words = ["ada", "x;reboot", "$(reboot)", "`reboot`", "a b", "'", "x\u202e", "~root", "*", "é"]
    api.on("GET /api/v1/email/mailboxes/query", {
      data: { items: words.map((localPart) => ({ mailboxId: ID, localPart, address: "a" })) }
    })
    const env = { AGENTOS_BASE_URL: api.url(), AGENTOS_TOKEN: "at_v1_x" }
    const { stdout } = await program.run(["__complete", "mailbox", "update", ""], { env })
    assert.strictEqual(stdout, "ada\ta\n")
  })

  /** For each typed line: the command that runs after Tab and Enter. */
  const LINES: ReadonlyArray<readonly [typed: string, run: string]> = [
    ["agentctl mail li", "mail list"],
    ["agentctl events list --status p", "events list --status pending"],
    ["agentctl events list --status=p", "events list --status=pending"],
    ["agentctl mailbox update x --active=f", "mailbox update x --active=false"],
    ["agentctl mail list --mai", "mail list --mailbox"],
    ["agentctl mailbox update ", "mailbox update ada"],
    ["agentctl wallet import some-k", "wallet import some-key"]
  ]

  /** A folder for shells, and an environment whose agentctl prints its arguments. */
  const prepare = async (shell: "bash" | "zsh" | "fish") => {
    api.on("GET /api/v1/email/mailboxes/query", {
      data: { items: [{ mailboxId: ID, localPart: "ada", address: "ada@agents.test" }] }
    })
    const cwd = program.folder()
    const agentctl = `#!/bin/sh
[ "$1" = __complete ] || { echo "RAN $*"; exit; }
exec '${process.execPath}' '${program.file()}' "$@"`
    writeFileSync(join(cwd, "agentctl"), agentctl, { mode: 0o755 })
    writeFileSync(join(cwd, "some-key"), "")
    writeFileSync(join(cwd, "script"), (await program.run(["completion", shell])).stdout)
    const env = {
      PATH: `${cwd}:${process.env["PATH"] ?? ""}`,
      HOME: cwd,
      TERM: "xterm",
      AGENTOS_HOME: cwd,
      AGENTOS_BASE_URL: api.url(),
      AGENTOS_TOKEN: "at_v1_x"
    }
    return { cwd, env }
  }

  /** Runs a shell while this process answers as the server. */
  const runShell = (
    shell: string,
    args: ReadonlyArray<string>,
    place: { readonly cwd: string; readonly env: Readonly<Record<string, string>> }
  ) => outcomeOf(spawn(shell, args, { ...place, stdio: ["ignore", "pipe", "pipe"], timeout: 60_000 }))

  /** Completion has a short timeout, so on a busy machine ids may be missing. Then it is retried. */
  const PATIENCE = { timeout: 60_000, interval: 100 }

  it("completes in bash", async () => {
    const place = await prepare("bash")
    // Readline splits a line at =.
    const words = (line: string) =>
      line
        .replace(/=/, " = ")
        .split(" ")
        .map((word) => `'${word}'`)
    const script = [
      ". ./script",
      ...LINES.map(([typed]) => {
        const split = words(typed)
        return `COMP_WORDS=(${split.join(" ")}); COMP_CWORD=${split.length - 1}; _agentctl; echo "\${COMPREPLY[*]}"`
      })
    ].join("\n")
    await vi.waitFor(async () => {
      const { stderr, stdout } = await runShell("bash", ["-c", script], place)
      // Only readline, which is absent here, completes file names.
      const expected = ["list", "pending", "pending", "false", "--mailbox", "ada", ""]
      assert.deepStrictEqual(stdout.trimEnd().split("\n").concat(""), expected, stderr)
    }, PATIENCE)
  })

  it.skipIf(!has("fish"))(`completes in fish${reason("fish")}`, async () => {
    const place = await prepare("fish")
    const script = ["source ./script", ...LINES.map(([typed]) => `complete -C '${typed}'; echo`)].join("\n")
    await vi.waitFor(async () => {
      const { stderr, stdout } = await runShell("fish", ["-N", "-c", script], place)
      const found = stdout
        .trimEnd()
        .split("\n\n")
        .map((lines) => lines.split("\t")[0])
      assert.deepStrictEqual(
        found,
        LINES.map(([, run]) => run.split(" ").at(-1)),
        stderr
      )
    }, PATIENCE)
  })

  it.skipIf(!has("zsh"))(`completes in zsh${reason("zsh")}`, async () => {
    const place = await prepare("zsh")
    writeFileSync(join(place.cwd, "_agentctl"), readFileSync(join(place.cwd, "script")))
    // A zsh with a pseudo-terminal, driven by another zsh.
    const script = [
      "zmodload zsh/zpty; zpty terminal zsh -f -i",
      'zpty -w terminal \'fpath=($PWD $fpath); autoload -Uz compinit; compinit -u -d ./dump; bindkey "^I" complete-word; echo be""gin\'',
      "zpty -r -m terminal said '*begin*'",
      ...LINES.flatMap(([typed]) => [
        `zpty -w -n terminal $'${typed}\\t\\n'`,
        "zpty -r -m terminal said '*RAN *\r*' && print -r -- ${${said##*RAN }%%$'\\r'*}"
      ])
    ].join("\n")
    await vi.waitFor(async () => {
      const { stderr, stdout } = await runShell("zsh", ["-f", "-c", script], place)
      const ran = stdout
        .trimEnd()
        .split("\n")
        .map((line) => line.trimEnd())
      assert.deepStrictEqual(
        ran,
        LINES.map(([, run]) => run),
        stderr
      )
    }, PATIENCE)
  })

  it("completes names and ids from the server", async () => {
    api.on("GET /api/v1/email/mailboxes/query", {
      data: { items: [{ mailboxId: ID, localPart: "ada", address: "ada@agents.test" }] }
    })
    const env = { AGENTOS_BASE_URL: api.url(), AGENTOS_TOKEN: "at_v1_x" }
    const { stdout } = await program.run(["__complete", "mail", "list", "--mailbox", ""], { env })
    assert.strictEqual(stdout, "ada\tada@agents.test\n")
    const call = { callId: ID, direction: "inbound", fromNumber: "+12125550100", status: "ended" }
    api.on("GET /api/v1/phone/calls", { data: { items: [call], nextCursor: null } })
    const calls = await program.run(["__complete", "call", "transcript", ""], { env })
    assert.strictEqual(calls.stdout, `${ID}\tfrom +12125550100, ended\n`)
  })

  it("prints nothing without a server", async () => {
    const outcome = await program.run(["__complete", "mail", "read", ""])
    assert.deepStrictEqual(outcome, { code: 0, stdout: "", stderr: "" })
  })
})
