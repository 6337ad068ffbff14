import { readFileSync } from "node:fs"
import { assert, it } from "vitest"
import { generate } from "../build/Generate.ts"

it("the schemas and prices of the tools are those of the contract", () => {
  const current = readFileSync(new URL("../src/generated/Contract.ts", import.meta.url), "utf8")
  assert.strictEqual(current, generate(), "run: npx -y pnpm@12 generate")
})
