import { execFileSync, spawn } from "node:child_process"
import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises"
import { createServer, type AddressInfo } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Effect } from "effect"

/** Whether Debian's package pgbouncer is installed. */
export const hasPgBouncer = (() => {
  try {
    execFileSync("pgbouncer", ["--version"], { stdio: "ignore" })
    return true
  } catch {
    return false
  }
})()

const freePort = Effect.callback<number>((resume) => {
  const server = createServer().listen(0, "127.0.0.1", () => {
    const { port } = server.address() as AddressInfo
    server.close(() => resume(Effect.succeed(port)))
  })
})

/** Runs PgBouncer in front of a server on this machine, with these settings. Returns its port. */
export const startPgBouncer = (postgres: number, settings: Readonly<Record<string, string | number>>) =>
  Effect.gen(function* () {
    const port = yield* freePort
    const directory = yield* Effect.acquireRelease(
      Effect.promise(() => mkdtemp(join(tmpdir(), "agentos-pgbouncer-"))),
      (path) => Effect.promise(() => rm(path, { recursive: true }))
    )
    const all = { listen_addr: "127.0.0.1", listen_port: port, unix_socket_dir: "", auth_type: "any", ...settings }
    const lines = Object.entries(all).map(([name, value]) => `${name} = ${value}`)
    const file = join(directory, "pgbouncer.ini")
    const databases = `[databases]\n* = host=127.0.0.1 port=${postgres} user=postgres`
    yield* Effect.promise(() => chmod(directory, 0o755))
    yield* Effect.promise(() => writeFile(file, `${databases}\n[pgbouncer]\n${lines.join("\n")}\n`, { mode: 0o644 }))
    // It refuses to run as root.
    const nobody = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {}
    yield* Effect.acquireRelease(
      Effect.callback<ReturnType<typeof spawn>>((resume) => {
        let log = ""
        const child = spawn("pgbouncer", [file], { ...nobody, stdio: ["ignore", "ignore", "pipe"] })
        child.stderr.setEncoding("utf8").on("data", (text: string) => {
          log += text
          if (log.includes(`listening on 127.0.0.1:${port}`)) resume(Effect.succeed(child))
        })
        child.once("exit", () => resume(Effect.die(new Error(`PgBouncer ended: ${log}`))))
      }),
      (child) =>
        Effect.callback<void>((resume) => {
          child.once("exit", () => resume(Effect.void))
          child.kill("SIGTERM")
        })
    )
    return port
  })
