import { readFileSync } from "node:fs"
import { expect, it } from "vitest"
import { generate } from "../build/Generate.ts"

it("the generated files are those of the contract: run `npx -y pnpm@12 generate`", async () => {
  const generated = await generate()
  const written = Object.fromEntries(
    Object.keys(generated).map((name) => [
      name,
      readFileSync(new URL(`../src/generated/${name}`, import.meta.url), "utf8")
    ])
  )
  expect(written).toEqual(generated)
})
