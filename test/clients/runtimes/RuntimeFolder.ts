import { execFile, spawn } from "node:child_process"
import { once } from "node:events"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { rolldown } from "rolldown"
import { userEnvironment } from "../../packed/Installation.ts"

const ROOT = fileURLToPath(new URL("../../..", import.meta.url))
const run = promisify(execFile)

/** The runtimes and the libraries beside the client, which are not dependencies of this repository because of their size. */
const PACKAGES = {
  bun: "1.4.5",
  deno: "2.9.6",
  ethers: "6.17.0",
  mppx: "0.11.0",
  "node-20": `npm:node-linux-${process.arch}@20.20.2`,
  "node-22": `npm:node-linux-${process.arch}@22.23.3`,
  viem: "2.57.1",
  workerd: "1.20261117.1",
  ws: "8.23.0"
}

/** An installation takes a minute, and downloads 400 MB the first time. */
const INSTALL_MILLIS = 400_000
const RUN_MILLIS = 60_000

/** A folder in which a user has installed the packed client and runtimes. */
export interface RuntimeFolder {
  readonly path: string
  /** Returns the path of a program of an installed package. */
  readonly program: (path: string) => string
  /** Writes a file. */
  readonly write: (name: string, text: string) => string
  /** Bundles a program of the folder for a page or a worker. */
  readonly bundle: (name: string, format: "esm" | "iife") => Promise<string>
  /** Runs a program to its end, and returns its output. Rejects with it if the program fails. */
  readonly run: (program: string, ...parameters: ReadonlyArray<string>) => Promise<string>
  /** Runs a program and stops it when a task has ended. Rejects with its output if it ends before. */
  readonly during: <A>(command: ReadonlyArray<string>, task: () => Promise<A>) => Promise<A>
  readonly remove: () => void
}

/** Compiles a program of this folder to JavaScript that imports the client as a user does. */
const compiled = async (source: string): Promise<string> => {
  const input = fileURLToPath(new URL(source, import.meta.url))
  const build = await rolldown({ input, external: /^(?:@agentos\/client|viem)/, platform: "neutral" })
  const [{ code }] = (await build.generate({ format: "esm" })).output
  await build.close()
  return code
}

/** Packs the client, and installs it with the runtimes. */
export const installRuntimes = async (): Promise<RuntimeFolder> => {
  const path = mkdtempSync(join(tmpdir(), "agentos-runtimes-"))
  const remove = () => rmSync(path, { recursive: true, force: true })
  const write = (name: string, text: string) => {
    writeFileSync(join(path, name), text)
    return join(path, name)
  }
  try {
    await run(join(ROOT, "node_modules/.bin/tsc"), ["-b", "packages/client"], { cwd: ROOT })
    await run(process.execPath, [join(ROOT, "packages/client/build/bundleMain.ts")])
    const packed = await run("npm", ["pack", join(ROOT, "packages/client/dist/npm"), "--silent"], { cwd: path })
    const dependencies = { "@agentos/client": `file:${packed.stdout.trim()}`, ...PACKAGES }
    write("package.json", JSON.stringify({ private: true, type: "module", dependencies }))
    // Versions of viem exclude those of mppx, which excludes none of viem's.
    const options = ["--no-audit", "--no-fund", "--prefer-offline", "--legacy-peer-deps"]
    await run("npm", ["install", ...options], { cwd: path, timeout: INSTALL_MILLIS, env: userEnvironment() })
    write("journey.mjs", await compiled("journey.ts"))
  } catch (error) {
    remove()
    throw error
  }
  return {
    path,
    program: (name) => join(path, "node_modules", name),
    write,
    bundle: async (name, format) => {
      const build = await rolldown({ cwd: path, input: join(path, name), platform: "browser", logLevel: "silent" })
      const [{ code }] = (await build.generate({ format, codeSplitting: false })).output
      await build.close()
      return code
    },
    run: async (program, ...parameters) =>
      (await run(program, parameters, { cwd: path, timeout: RUN_MILLIS, env: userEnvironment() })).stdout,
    during: async ([program = "", ...parameters], task) => {
      const child = spawn(program, parameters, { cwd: path, env: userEnvironment(), detached: true })
      let output = ""
      for (const stream of [child.stdout, child.stderr])
        stream.setEncoding("utf8").on("data", (text: string) => (output += text))
      const closed = once(child, "close")
      try {
        const ended = closed.then(() => Promise.reject(new Error(`${program} ended:\n${output}`)))
        return await Promise.race([task(), ended])
      } finally {
        // Browsers and wrappers have processes of their own.
        if (child.exitCode === null && child.pid !== undefined) process.kill(-child.pid, "SIGKILL")
        await closed
      }
    },
    remove
  }
}
