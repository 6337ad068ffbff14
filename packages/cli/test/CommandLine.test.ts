import { commandHelp } from "@agentos/node/command-line"
import { spawn } from "node:child_process"
import { closeSync, existsSync, openSync, readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { assert, describe, expect, it } from "vitest"
import { COMMAND_TREE, COMMANDS } from "../src/command/Commands.ts"
import { reference } from "../src/help/Reference.ts"
import { outcomeOf, useProgram } from "./support/Program.ts"

const program = useProgram()
const golden = (name: string) => fileURLToPath(new URL(`golden/${name}`, import.meta.url))
const json = (path: string): unknown => JSON.parse(readFileSync(new URL(path, import.meta.url), "utf8"))

describe("command line", () => {
  it("prints the version of the package", async () => {
    const { version } = json("../package.json") as { version: string }
    const expected = { code: 0, stdout: `agentctl ${version}\n`, stderr: "" }
    assert.deepStrictEqual(await program.execute(["--version"]), expected)
    assert.deepStrictEqual(await program.execute(["mail", "list", "--version"]), expected)
  })

  it("prints help on standard output for --help, -h, help and no arguments", async () => {
    const [alone, flag, word] = [
      await program.execute([]),
      await program.execute(["--help"]),
      await program.execute(["help"])
    ]
    await expect(alone.stdout).toMatchFileSnapshot(golden("help.txt"))
    for (const outcome of [alone, flag, word])
      assert.deepStrictEqual(outcome, { code: 0, stdout: alone.stdout, stderr: "" })
    const [after, before] = [
      await program.execute(["mail", "list", "-h"]),
      await program.execute(["help", "mail", "list"])
    ]
    await expect(after.stdout).toMatchFileSnapshot(golden("help-mail-list.txt"))
    assert.deepStrictEqual(after, before)
    await expect((await program.execute(["events"])).stdout).toMatchFileSnapshot(golden("help-events.txt"))
  })

  it.for([
    [["mial", "list"], 'Unknown command "mial". Did you mean mail?', "agentctl --help"],
    [["mail", "lsit"], 'Unknown command "mail lsit". Did you mean mail list?', "agentctl mail --help"],
    [["transcript"], "Did you mean call transcript?", "agentctl --help"],
    [["mail", "list", "--limt", "3"], "Unknown flag --limt. Did you mean --limit?", "agentctl mail list --help"],
    [["mail", "list", "--limit", "many"], "--limit takes an integer from 1 to 10000", "agentctl mail list --help"],
    [["mail", "list", "--limit"], "--limit needs a value", "agentctl mail list --help"],
    [["mail", "list", "--mailbox", "--quiet"], "--mailbox needs a value", "agentctl mail list --help"],
    [["mail", "list", "--json=yes"], "--json takes no value", "agentctl mail list --help"],
    [["mail", "list", "extra"], 'Unexpected argument "extra".', "agentctl mail list --help"],
    [
      ["mail", "read"],
      "Missing argument MESSAGE: id of a message, a part of it, or latest.",
      "agentctl mail read --help"
    ],
    [
      ["events", "list", "--status", "pendign"],
      "Choose pending, delivered, acknowledged, expired or failed.\n",
      "agentctl events list --help"
    ],
    [["completion", "tcsh"], 'Invalid SHELL "tcsh". Choose bash, zsh or fish.', "agentctl completion --help"],
    [["--limit", "3", "mail", "list"], "The command comes before its flags", "agentctl --help"],
    [["list", "mailboxes"], 'Unknown command "list". Did you mean mailbox list?', "agentctl --help"],
    [["list"], 'Unknown command "list".\n', "agentctl --help"],
    [["version"], 'Unknown command "version". Did you mean --version?', "agentctl --help"],
    [["mailbox", "ls"], 'Unknown command "mailbox ls". Did you mean mailbox list?', "agentctl mailbox --help"],
    [["number", "rm"], 'Unknown command "number rm". Did you mean number release?', "agentctl number --help"],
    [["wallet", "show"], 'Unknown command "wallet show". Did you mean wallet address?', "agentctl wallet --help"],
    [["events", "follow"], 'Unknown command "events follow". Did you mean events tail?', "agentctl events --help"],
    [["dev", "ls"], 'Unexpected argument "ls".', "agentctl dev --help"],
    [["api", "get", "/api/v1"], 'Invalid METHOD "get". Choose GET or POST.\n', "agentctl api --help"],
    [["create", "mailbox", "ada"], 'Unknown command "create". Did you mean mailbox create?', "agentctl --help"],
    [
      ["mail", "wait", "--timeout", "5"],
      '--timeout takes a duration such as 20s or 5m, not "5".',
      "agentctl mail wait --help"
    ],
    [["help", "mail", "lst"], "Did you mean mail list?", "agentctl mail --help"]
  ] as const)("rejects %j", async ([args, message, next]) => {
    const { code, stderr, stdout } = await program.run(args)
    assert.strictEqual(stdout, "")
    assert.include(stderr, message)
    assert.include(stderr, `Next: ${next}\n`)
    assert.strictEqual(code, 3)
  })

  /** The longest argument that Linux accepts. */
  const ARGUMENT_BYTES_MAX = 131_071
  it.for([
    [["services", "show"], "-0-0x", "agentctl services show --help"],
    [["services", "show"], "-q", "agentctl services show --help"],
    [["mail", "send", "--text"], "-text", "agentctl mail send --help"],
    [["mail", "send", "--subject", "Hi"], "-q", "agentctl mail send --help"],
    [[], "-x", "agentctl --help"]
  ] as const)("rejects %j with an argument of 131,071 bytes that begins with %s", async ([words, start, next]) => {
    const argument = start.padEnd(ARGUMENT_BYTES_MAX, start.at(-1))
    const { code, stderr, stdout } = await program.run([...words, argument])
    assert.include(stderr, `Next: ${next}\n`)
    assert.deepStrictEqual([code, stdout], [3, ""])
  })

  it("rejects more than 64 joined short flags and explains how to write a value that begins with -", async () => {
    const taken = await program.run(["mail", "list", `-h${"q".repeat(63)}`])
    assert.deepStrictEqual([taken.code, taken.stderr], [0, ""])
    const { code, stderr } = await program.run(["mail", "list", `-h${"q".repeat(64)}`])
    assert.strictEqual(
      stderr,
      `Error: "-hqqqqqqqqqqqqqq…" joins 65 short flags; at most 64 are allowed. Write a value that begins with - as --FLAG=VALUE, and such an argument after --.
Next: agentctl mail list --help
`
    )
    assert.strictEqual(code, 3)
  })

  it("prints a usage error as JSON with --json", async () => {
    const { code, stderr, stdout } = await program.run(["--json", "mail", "list", "--limit", "0"])
    assert.deepStrictEqual([code, stdout], [3, ""])
    assert.deepStrictEqual(JSON.parse(stderr), {
      error: {
        code: "USAGE",
        message: '--limit takes an integer from 1 to 10000, not "0".',
        exitCode: 3,
        next: ["agentctl mail list --help"]
      }
    })
  })

  // On Linux, /dev/full is always full.
  it.skipIf(!existsSync("/dev/full"))("reports that standard output cannot be written", async () => {
    const full = openSync("/dev/full", "w")
    const into = (...args: ReadonlyArray<string>) =>
      outcomeOf(spawn(process.execPath, [program.file(), ...args], { stdio: ["ignore", full, "pipe"] }))
    const [said, json] = await Promise.all([into("--help"), into("schema", "--json")])
    closeSync(full)
    assert.strictEqual(said.code, 1)
    assert.match(said.stderr, /^Error: Cannot write to standard output \(ENOSPC/)
    assert.deepInclude(JSON.parse(json.stderr).error, { code: "FAILED", exitCode: 1 })
  })

  it("describes every command in schema", async () => {
    const { stdout } = await program.run(["schema"])
    const schema = JSON.parse(stdout) as { commands: Array<{ name: string }> }
    assert.deepStrictEqual(
      schema.commands.map(({ name }) => name),
      COMMANDS.map(({ name }) => name)
    )
    const one = JSON.parse((await program.run(["schema", "mail", "list"])).stdout) as { commands: Array<unknown> }
    assert.lengthOf(one.commands, 1)
  })

  it("generates the reference page from the command table", async () => {
    await expect(reference(COMMAND_TREE)).toMatchFileSnapshot(
      fileURLToPath(new URL("../REFERENCE.md", import.meta.url))
    )
  })

  it("keeps help within 100 columns and has an example for every command", () => {
    for (const command of COMMANDS) {
      const help = (columns: number | undefined) =>
        commandHelp(COMMAND_TREE.program, command, { bold: (text) => text, columns }).split("\n")
      for (const line of help(undefined)) assert.isAtMost(line.length, 100, line)
      assert.deepStrictEqual(help(200), help(undefined))
      // Lines to paste are never wrapped.
      for (const line of help(80)) if (!/^ {2}(?:[$#]|agentctl) /.test(line)) assert.isAtMost(line.length, 80, line)
      // Paragraphs are wrapped at display time, so a line break inside a sentence would look ragged.
      assert.notMatch(command.description, /[^.:]\n/)
      for (const { line } of command.examples) assert.include(line, `agentctl ${command.name}`)
    }
  })
})
