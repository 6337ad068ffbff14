import { spawnSync } from "node:child_process"
import { readFileSync, rmSync, writeFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { expect, it, onTestFinished } from "vitest"
import { startSandbox } from "../support/Sandbox.ts"

const README = new URL("../../README.md", import.meta.url)
/** Beside this file, so that it finds the packages that it imports. */
const PROGRAM = fileURLToPath(new URL(`readme-${process.pid}.mjs`, import.meta.url))

it("shows a first paid request that works as it stands", async () => {
  const sandbox = await startSandbox()
  onTestFinished(async () => void (await sandbox.stop()))
  const code = /```js\n([^]*?)```/.exec(readFileSync(README, "utf8"))?.[1] ?? ""
  expect(code).toContain('".agentos/sandbox.json"')
  writeFileSync(PROGRAM, code.replace(".agentos/sandbox.json", `${sandbox.directory}/sandbox.json`))
  onTestFinished(() => rmSync(PROGRAM))
  const { stderr, stdout } = spawnSync(process.execPath, [PROGRAM], { encoding: "utf8", timeout: 30_000 })
  expect(stderr).toBe("")
  expect(stdout).toMatch(/^ada@sandbox\.agentos\.test\nat_v1_\w+\n$/)
})
