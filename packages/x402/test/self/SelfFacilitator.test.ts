import { execFileSync } from "node:child_process"
import { assert, describe, it } from "@effect/vitest"
import { fileURLToPath } from "node:url"

/** Loads modules one after the other in a new process, and returns after which of them @x402/evm was loaded. */
const evmLoadedAfter = (...modules: ReadonlyArray<string>): string => {
  const urls = modules.map((module) => new URL(`../../src/${module}`, import.meta.url).href)
  const program = `
    import { registerHooks } from "node:module"
    let there = false
    const resolve = (name, context, next) => {
      const found = next(name, context)
      there ||= found.url.includes("/@x402/evm/")
      return found
    }
    registerHooks({ resolve })
    const said = []
    for (const url of ${JSON.stringify(urls)}) {
      await import(url)
      said.push(there)
    }
    console.log(said.join())
  `
  const cwd = fileURLToPath(new URL("../..", import.meta.url))
  return execFileSync(process.execPath, ["--input-type=module", "-e", program], { cwd, encoding: "utf8" }).trim()
}

describe("selfFacilitator", () => {
  // A new process that loads every module takes a while on a busy machine.
  it("loads its dependencies only when a network uses it", { timeout: 120_000 }, () => {
    assert.strictEqual(evmLoadedAfter("index.ts", "self/FacilitatorSelf.ts"), "false,true")
  })
})
