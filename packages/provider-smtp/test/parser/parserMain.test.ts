import { fork } from "node:child_process"
import { fileURLToPath } from "node:url"
import { expect, it } from "vitest"

it("ends when the process that started it is gone", async () => {
  const main = fileURLToPath(new URL("../../src/parser/parserMain.ts", import.meta.url))
  const child = fork(main, [], {
    execArgv: [],
    serialization: "advanced",
    stdio: ["ignore", "ignore", "inherit", "ipc", "pipe"]
  })
  const exited = new Promise((resolve) => child.once("exit", (_, signal) => resolve(signal)))
  expect(await new Promise((resolve) => child.once("message", resolve))).toEqual({ _tag: "Ready" })
  child.disconnect()
  expect(await exited).toBe("SIGKILL")
})
