import { spawn } from "node:child_process"
import { once } from "node:events"
import { onTestFinished } from "vitest"
import type { Installation, NodeVersion } from "./Installation.ts"

/** A program that runs until it is stopped. */
export interface Running {
  /** Resolves with the first group of the first match in the output. Rejects if the program ends before. */
  readonly find: (expression: RegExp) => Promise<string>
  readonly output: () => string
  /** Ends it by SIGTERM and resolves with its exit code. */
  readonly stop: () => Promise<number | null>
}

/** Starts a program of an installation. */
export const start = (
  { environment, folder }: Installation,
  version: NodeVersion,
  program: string,
  parameters: ReadonlyArray<string>,
  variables: Readonly<Record<string, string>> = {}
): Running => {
  const child = spawn(program, parameters, {
    cwd: folder,
    env: { ...environment(version), ...variables },
    stdio: ["ignore", "pipe", "pipe"]
  })
  let output = ""
  let changed = Promise.withResolvers<void>()
  const change = (): void => {
    changed.resolve()
    changed = Promise.withResolvers()
  }
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (text: string) => {
      output += text
      change()
    })
  const ended = once(child, "close").then(() => child.exitCode)
  void ended.finally(change)
  return {
    find: async (expression) => {
      for (;;) {
        const found = expression.exec(output)?.[1]
        if (found !== undefined) return found
        if (child.exitCode !== null)
          throw new Error(`${program} ended before it printed ${String(expression)}:\n${output}`)
        await changed.promise
      }
    },
    output: () => output,
    stop: () => {
      child.kill("SIGTERM")
      return ended
    }
  }
}

/** Starts a program that ends with the test. */
export const startForTest = (...parameters: Parameters<typeof start>): Running => {
  const running = start(...parameters)
  onTestFinished(async () => void (await running.stop()))
  return running
}
