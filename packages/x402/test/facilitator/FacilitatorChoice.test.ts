import { execFileSync } from "node:child_process"
import { assert, describe, it } from "@effect/vitest"
import { fileURLToPath } from "node:url"

/** Loads modules in a process of their own, and says which of @x402/evm came with them. */
const loadedWith = (...modules: ReadonlyArray<string>): ReadonlyArray<string> => {
  const urls = modules.map((module) => new URL(`../../src/${module}`, import.meta.url).href)
  const program = `
    import { registerHooks } from "node:module"
    const loaded = []
    registerHooks({ load: (url, context, next) => (loaded.push(url), next(url, context)) })
    for (const url of ${JSON.stringify(urls)}) await import(url)
    console.log(JSON.stringify(loaded.filter((url) => url.includes("/@x402/evm/"))))
  `
  const cwd = fileURLToPath(new URL("../..", import.meta.url))
  const said = execFileSync(process.execPath, ["--input-type=module", "-e", program], { cwd, encoding: "utf8" })
  return JSON.parse(said) as ReadonlyArray<string>
}

describe("FacilitatorChoice", () => {
  it("loads what the self-hosted facilitator needs with it alone", () => {
    assert.deepStrictEqual(loadedWith("index.ts"), [])
    assert.isNotEmpty(loadedWith("facilitator/FacilitatorSelf.ts"))
  })
})
