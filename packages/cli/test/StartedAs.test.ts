import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { expect, it, onTestFinished } from "vitest"
import { startedAs } from "../src/NodeProgram.ts"

/** Makes a folder as npx does in the cache of npm, and returns the path of the program in it. */
const inNpx = (record: string | undefined): string => {
  const cache = mkdtempSync(join(tmpdir(), "agentctl-npx-"))
  onTestFinished(() => rmSync(cache, { recursive: true }))
  const folder = join(cache, "_npx/c9e24453f1ec9877")
  mkdirSync(folder, { recursive: true })
  if (record !== undefined) writeFileSync(join(folder, "package.json"), record)
  return join(folder, "node_modules/.bin/agentctl")
}

it("names the package that npx was given", () => {
  const path = "https://agentos.example/downloads/agentos-cli.tgz"
  const record = { dependencies: { "@agentos/cli": path }, _npx: { packages: [path] } }
  expect(startedAs(inNpx(JSON.stringify(record)))).toBe(`npx --package ${path} agentctl`)
  const spaced = { _npx: { packages: ["my file.tgz"] } }
  expect(startedAs(inNpx(JSON.stringify(spaced)))).toBe("npx --package 'my file.tgz' agentctl")
})

it.each([undefined, "", "{}", '{"_npx":{"packages":["@agentos/cli","other"]}}', '{"_npx":{"packages":[1]}}'])(
  "names the published package if npx recorded %j",
  (record) => {
    expect(startedAs(inNpx(record))).toBe("npx --package @agentos/cli agentctl")
  }
)

it("starts the program of a project with npx, and one in the PATH by its name", () => {
  expect(startedAs("/home/ada/project/node_modules/.bin/agentctl")).toBe("npx agentctl")
  expect(startedAs("/usr/local/bin/agentctl")).toBe("agentctl")
})
