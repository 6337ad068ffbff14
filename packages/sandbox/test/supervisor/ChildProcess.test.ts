import { mkdtempSync, readFileSync, rmSync, statSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, expect, it } from "vitest"
import { openLog } from "../../src/supervisor/ChildProcess.ts"

const directory = mkdtempSync(join(tmpdir(), "agentos-log-"))
afterAll(() => rmSync(directory, { recursive: true }))

it("starts a new file at each start, and keeps the previous one", () => {
  const path = join(directory, "restart.log")
  openLog(path).write("first\n")
  openLog(path).write("second\n")
  expect(readFileSync(path, "utf8")).toBe("second\n")
  expect(readFileSync(`${path}.1`, "utf8")).toBe("first\n")
})

it("stays within its size limit", () => {
  const path = join(directory, "long.log")
  const log = openLog(path)
  const megabyte = Buffer.alloc(1_048_576, "x")
  for (let count = 0; count < 30; count++) log.write(megabyte)
  log.write("\nthe end\n")
  expect(statSync(path).size + statSync(`${path}.1`).size).toBeLessThan(19 * 1_048_576)
  expect(log.tail()).toMatch(/the end$/)
})

it("returns the last lines of this run", () => {
  const log = openLog(join(directory, "tail.log"))
  for (let line = 1; line <= 100; line++) log.write(`line ${line}\n`)
  const lines = log.tail().split("\n")
  expect(lines).toHaveLength(20)
  expect(lines.at(-1)).toBe("line 100")
})

it("survives the removal of its directory", () => {
  const path = join(directory, "gone")
  const log = openLog(join(path, "child.log"))
  log.write("lost\n")
  expect(log.tail()).toContain("could not be written")
})
