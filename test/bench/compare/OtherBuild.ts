import { execFile, fork } from "node:child_process"
import { once } from "node:events"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { basename, join } from "node:path"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import type { BenchRun } from "../Bench.ts"
import type { OtherBuild, Side, Work } from "./Side.ts"

/** The environment variable by which a bench runs for the bench of another build: it measures nothing itself. */
export const SERVES_ANOTHER = "AGENTOS_BENCH_SERVES"

/** A message of the other bench: the comparison that it has reached, or the result of its work. */
type Said =
  | { readonly title: string }
  | { readonly work: Work; readonly cpuMillis: number }
  | { readonly problem: string }
/** A message to it: to work, or to go on to its next comparison. */
type Told = { readonly millis: number } | { readonly next: true }

const run = promisify(execFile)

/**
 * Unpacks an archive of the sources of another build (`git archive --output FILE.tgz COMMIT`), installs its dependencies,
 * and starts its bench of this name. That build must have this module.
 */
export const startOtherBuild = async (bench: BenchRun, archive: string, name: string): Promise<OtherBuild> => {
  const folder = mkdtempSync(join(tmpdir(), "agentos-other-build-"))
  bench.atEnd(async () => rmSync(folder, { recursive: true, force: true }))
  await run("tar", ["--extract", "--file", archive, "--directory", folder])
  await run("npx", ["-y", "pnpm@12", "install", "--frozen-lockfile", "--prefer-offline"], { cwd: folder })
  return startServing(bench, { folder, name, called: basename(archive) })
}

/** The environment variable with the program that a bench measures in the place of the one that it would build. */
export const OTHER_PROGRAM = "AGENTOS_BENCH_PROGRAM"

/** Starts the bench of this name of this build with the built server of another. */
export const startOtherProgram = (bench: BenchRun, program: string, name: string, called: string): OtherBuild =>
  startServing(bench, { folder: ROOT, name, called, environment: { [OTHER_PROGRAM]: program } })

const ROOT = fileURLToPath(new URL("../../..", import.meta.url))

interface Serving {
  readonly folder: string
  /** The bench. */
  readonly name: string
  readonly called: string
  readonly environment?: Readonly<Record<string, string>>
}

const startServing = (bench: BenchRun, { called, environment = {}, folder, name }: Serving): OtherBuild => {
  const child = fork(join(folder, "test/bench/benchMain.ts"), [name], {
    cwd: folder,
    serialization: "advanced",
    stdio: ["ignore", "ignore", "inherit", "ipc"],
    env: { ...process.env, ...environment, [SERVES_ANOTHER]: "1" }
  })
  const exited = new Promise<void>((resolve) => child.once("exit", () => resolve()))
  bench.atEnd(async () => {
    child.kill("SIGTERM")
    await exited
  })
  const hear = async (): Promise<Exclude<Said, { readonly problem: string }>> => {
    const ended = exited.then((): never => {
      throw new Error(`the bench of ${called} ended`)
    })
    const [said] = (await Promise.race([once(child, "message"), ended])) as [Said]
    if ("problem" in said) throw new Error(`${called}: ${said.problem}`)
    return said
  }
  const ask = (told: Told) => {
    child.send(told)
    return hear()
  }
  let reached: ReturnType<typeof hear> | undefined = hear()
  // It may end before its first side is asked for, which then fails.
  reached.catch(() => undefined)
  return {
    side: async (title) => {
      const said = await (reached ?? ask({ next: true }))
      reached = undefined
      if (!("title" in said) || said.title !== title)
        throw new Error(`the bench of ${called} compares ${JSON.stringify(said)} in place of ${title}`)
      let used = 0
      return {
        name: called,
        cpuMillis: () => used,
        work: async (millis) => {
          const done = await ask({ millis })
          if ("title" in done) throw new Error(`the bench of ${called} has gone on`)
          used += done.cpuMillis
          return done.work
        }
      }
    }
  }
}

/** In the bench of the other build: lets a side work for the process that started this one, until it is told to go on. */
export const serveSide = async (title: string, side: Side): Promise<void> => {
  const say = (said: Said) => process.send?.(said)
  say({ title })
  for (;;) {
    const [told] = (await once(process, "message")) as [Told]
    if ("next" in told) return
    try {
      const before = side.cpuMillis?.() ?? Number.NaN
      const work = await side.work(told.millis)
      say({ work, cpuMillis: (side.cpuMillis?.() ?? Number.NaN) - before })
    } catch (error) {
      say({ problem: error instanceof Error ? (error.stack ?? error.message) : String(error) })
    }
  }
}
