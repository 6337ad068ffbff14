import { Effect } from "effect"
import { spawn } from "node:child_process"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { fileURLToPath } from "node:url"

/** A program of `test/program` that runs in a process of its own. */
export interface Program {
  readonly pid: number
  /** Returns its output by line, once there are `count` lines or it has ended. */
  readonly lines: (count: number) => Effect.Effect<ReadonlyArray<string>>
  /** Signals it to continue. */
  readonly go: Effect.Effect<void>
  /** Kills it like a loss of power: it can do nothing more. */
  readonly kill: Effect.Effect<void>
}

/** Starts a program, which is killed when the scope closes. */
export const startProgram = (name: string, ...parameters: ReadonlyArray<string>) =>
  Effect.acquireRelease(
    Effect.sync((): Program => {
      const path = fileURLToPath(new URL(`../program/${name}.ts`, import.meta.url))
      const child = spawn(process.execPath, [path, ...parameters], { stdio: ["pipe", "pipe", "inherit"] })
      const said: Array<string> = []
      const changed = new Set<() => void>()
      let isOver = false
      const change = () => {
        for (const notify of changed) notify()
      }
      createInterface(child.stdout).on("line", (line) => {
        said.push(line)
        change()
      })
      const ended = new Promise<void>((resolve) =>
        child.once("close", () => {
          isOver = true
          change()
          resolve()
        })
      )
      return {
        pid: child.pid ?? 0,
        lines: (count) =>
          Effect.callback((resume) => {
            const look = () => {
              if (said.length >= count || isOver) resume(Effect.succeed([...said]))
            }
            changed.add(look)
            look()
            return Effect.sync(() => changed.delete(look))
          }),
        go: Effect.sync(() => child.stdin.write("go\n")),
        kill: Effect.promise(() => {
          child.kill("SIGKILL")
          return ended
        })
      }
    }),
    (program) => program.kill
  )

/** A directory that is deleted when the scope closes. */
export const temporaryDirectory = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "agentos-test-"))),
  (directory) => Effect.sync(() => rmSync(directory, { recursive: true, force: true }))
)
