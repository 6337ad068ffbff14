import { fork } from "node:child_process"
import { connect, type Socket } from "node:net"
import { fileURLToPath } from "node:url"
import { startServer } from "../support/TestServer.ts"
import { anonymousRequests, CHALLENGE, TINY_CHUNKS } from "./AnonymousRequests.ts"

/**
 * Measures the CPU time that each anonymous request costs the server, in milliseconds, and the difference from a
 * challenge: `node packages/http-server/test/limits/costMain.ts [REQUESTS]`. The server runs in its own process.
 */
const SERVE = "serve"
const WARM_UP = 300
const times = Number(process.argv[2] ?? 100)

const serve = async () => {
  const server = await startServer({ carrierToken: "t".repeat(32) })
  process.on("message", () => process.send?.(process.cpuUsage()))
  process.send?.(server.port)
}

/** Sends a request and resolves with the status once the response has begun, or with "closed". */
const send = (port: number, bytes: Uint8Array): Promise<string> =>
  new Promise((resolve, reject) => {
    const socket: Socket = connect(port, "127.0.0.1")
    socket.on("error", (error: NodeJS.ErrnoException) => (error.code === "EPIPE" ? undefined : reject(error)))
    socket.once("data", (chunk: Buffer) => {
      resolve(chunk.toString("latin1", 9, 12))
      socket.destroy()
    })
    socket.once("close", () => resolve("closed"))
    socket.write(bytes)
  })

const measure = async () => {
  const child = fork(fileURLToPath(import.meta.url), [SERVE], { stdio: ["ignore", "ignore", "inherit", "ipc"] })
  const reply = <A>() => new Promise<A>((resolve) => child.once("message", (message) => resolve(message as A)))
  const usage = async () => {
    const answered = reply<NodeJS.CpuUsage>()
    child.send("usage")
    const { system, user } = await answered
    return (user + system) / 1_000
  }
  const port = await reply<number>()
  const cost = async (bytes: Uint8Array) => {
    const before = await usage()
    const statuses = new Set<string>()
    for (let index = 0; index < times; index++) statuses.add(await send(port, bytes))
    return { millis: ((await usage()) - before) / times, statuses: [...statuses].join(" ") }
  }
  try {
    for (let index = 0; index < WARM_UP; index++) await send(port, CHALLENGE)
    const challenge = await cost(CHALLENGE)
    process.stdout.write(`${challenge.millis.toFixed(2).padStart(8)}        ${challenge.statuses}  a challenge\n`)
    for (const [name, bytes] of Object.entries({ ...anonymousRequests(), "chunks of one byte": TINY_CHUNKS })) {
      await send(port, bytes)
      const { millis, statuses } = await cost(bytes)
      const more = millis - challenge.millis
      process.stdout.write(
        `${millis.toFixed(2).padStart(8)} ${`+${more.toFixed(2)}`.padStart(7)} ${statuses}  ${name}\n`
      )
    }
  } finally {
    child.kill()
  }
}

await (process.argv[2] === SERVE ? serve() : measure())
