import { spawnSync } from "node:child_process"
import { readdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { assert, describe, it } from "vitest"
import { useProgram } from "./support/Program.ts"

const program = useProgram()

/** Returns the built-in modules that a run loads, beside those that Node loads by itself. */
const loadedBy = (...args: ReadonlyArray<string>): ReadonlyArray<string> => {
  const script = `
    const before = new Set(process.moduleLoadList)
    process.argv = [process.execPath, ${JSON.stringify(program.file())}, ...${JSON.stringify(args)}]
    process.on("exit", () => process.stderr.write(process.moduleLoadList.filter((name) => !before.has(name)).join("\\n")))
    require(${JSON.stringify(program.file())})`
  const run = spawnSync(process.execPath, ["-e", script], { encoding: "utf8" })
  assert.strictEqual(run.status, 0)
  return run.stderr.split("\n")
}

describe("start-up", () => {
  it("loads no other module for --version", () => {
    const loaded = loadedBy("--version").join(" ")
    for (const heavy of ["crypto", "readline", "undici", "fs/promises", "parse_args"])
      assert.notInclude(loaded, `NativeModule ${heavy}`)
    assert.notInclude(loaded, "parse_args")
  })

  it("loads no network, wallet and file modules for help", () => {
    const loaded = loadedBy("mail", "list", "--help").join(" ")
    for (const heavy of ["crypto", "readline", "undici", "fs/promises"])
      assert.notInclude(loaded, `NativeModule ${heavy}`)
    // The parser determines the command.
    assert.include(loaded, "parse_args")
  })

  it("keeps the compiled program in the cache folder of the user, and needs none", () => {
    const cache = program.folder()
    const help = (folder: string) => {
      const { NODE_COMPILE_CACHE: _, ...env } = process.env
      const args = [program.file(), "mail", "list", "--help"]
      return spawnSync(process.execPath, args, { encoding: "utf8", env: { ...env, XDG_CACHE_HOME: folder } })
    }
    const first = help(cache)
    assert.deepStrictEqual([first.status, first.stderr], [0, ""])
    assert.isNotEmpty(readdirSync(join(cache, "agentctl"), { recursive: true }))
    const file = join(cache, "file")
    writeFileSync(file, "")
    for (const next of [help(cache), help(file)])
      assert.deepStrictEqual([next.status, next.stderr, next.stdout], [0, "", first.stdout])
  })

  it.for([
    ["a relative one", { HOME: "home" }],
    ["one in which no folder can be created", { HOME: "/proc/self" }]
  ] as const)("takes no other folder for the home of the user: %s", ([_, home]) => {
    const { NODE_COMPILE_CACHE: _cache, XDG_CACHE_HOME: _xdg, ...env } = process.env
    const cwd = program.folder()
    const settings = { AGENTOS_HOME: program.folder(), ...home }
    const run = spawnSync(process.execPath, [program.file(), "config", "path"], { cwd, env: { ...env, ...settings } })
    assert.strictEqual(run.status, 0, String(run.stderr))
    assert.isEmpty(readdirSync(cwd))
  })

  it("evaluates no module of the client for help", () => {
    const hooks = `
      import { registerHooks } from "node:module"
      registerHooks({ load: (url, context, next) => {
        if (/\\/(?:packages|@agentos)\\/client\\//.test(url)) process.stderr.write(url + "\\n")
        return next(url, context)
      } })`
    const main = fileURLToPath(new URL("../src/main.ts", import.meta.url))
    const run = (...args: ReadonlyArray<string>) =>
      spawnSync(process.execPath, ["--import", `data:text/javascript,${encodeURIComponent(hooks)}`, main, ...args], {
        encoding: "utf8",
        env: { ...process.env, AGENTOS_HOME: program.folder() }
      })
    const { status, stderr } = run("mail", "list", "--help")
    assert.deepStrictEqual([status, stderr], [0, ""])
    // It is loaded by a command that uses it.
    assert.include(run("payments", "list").stderr, "/client/")
  })

  it("formats nothing by a locale, whose data takes as long to load as a fifth of the program", () => {
    const script = `
      const refuse = class { constructor() { throw new Error("Intl is used at the start") } }
      for (const name of ["Collator", "DateTimeFormat", "ListFormat", "NumberFormat", "PluralRules", "Segmenter"]) Intl[name] = refuse
      process.argv = [process.execPath, ${JSON.stringify(program.file())}, "mail", "list", "--help"]
      require(${JSON.stringify(program.file())})`
    const { status, stderr } = spawnSync(process.execPath, ["-e", script], { encoding: "utf8" })
    assert.deepStrictEqual([status, stderr], [0, ""])
  })
})

describe("an old Node.js", () => {
  it("is refused before anything is done, with what to do", () => {
    const script = `
      Object.defineProperty(process.versions, "node", { value: "20.19.0" })
      process.argv = [process.execPath, ${JSON.stringify(program.file())}, "mcp", "--max-per-day", "5"]
      require(${JSON.stringify(program.file())})`
    const { status, stderr, stdout } = spawnSync(process.execPath, ["-e", script], { encoding: "utf8" })
    assert.deepStrictEqual([status, stdout], [3, ""])
    assert.strictEqual(
      stderr,
      "Error: agentctl needs Node.js 22 or newer, and this is 20.19.0. Nothing was done.\nNext: install Node.js 22 or newer: https://nodejs.org\n"
    )
  })
})
