import { globSync, readFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { describe, expect, it } from "vitest"
import { repository } from "./Workspace.ts"

describe("type check", () => {
  it("reaches every package, contract suite, test and example", () => {
    const { references } = JSON.parse(readFileSync(join(repository, "tsconfig.json"), "utf8")) as {
      readonly references: ReadonlyArray<{ readonly path: string }>
    }
    const packages = globSync(["packages/*/package.json", "examples/*/package.json", "test/package.json"], {
      cwd: repository
    }).map(dirname)
    const tests = globSync("packages/*/{contract-tests,test}", { cwd: repository })
    expect(references.map(({ path }) => path)).toEqual(expect.arrayContaining([...packages, ...tests]))
  })
})
